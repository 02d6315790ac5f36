import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Document, operationOf } from './document.ts';
import type { DocumentedRequest } from './request.ts';

export interface ReceivedResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Null for an endless response. */
  body: string | null;
}

/** How the response contradicts the document; null if it does not. */
export type Check = (request: DocumentedRequest, response: ReceivedResponse) => string | null;

export function createCheck(document: Document): Check {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  const validators = new Map<object, ValidateFunction>();
  const validatorOf = (schema: object) => {
    const known = validators.get(schema) ?? ajv.compile({ ...schema, components: document.components });
    validators.set(schema, known);
    return known;
  };

  function checkBody(schema: object, body: string): string | null {
    const validate = validatorOf(schema);
    try {
      return validate(JSON.parse(body)) ? null : ajv.errorsText(validate.errors);
    } catch {
      return `not JSON: ${body.slice(0, 100)}`;
    }
  }

  return ({ path, method, key }, { status, headers, body }) => {
    const operation = operationOf(document, path);
    if (status >= 500) return `a ${status}`;
    if (key !== 'valid' && status < 400) return `a ${status} without a valid key`;
    if (key === 'none' && method === operation.method && status !== 401) return `a ${status} without a key`;
    const documented = operation.described?.responses[status];
    if (!documented) return `the status ${status} is not documented`;
    if (!headers['x-request-id']) return 'no X-Request-Id';
    const undocumented = Object.keys(headers).find((name) => name.startsWith('x-rate') && !hasHeader(documented, name));
    if (undocumented) return `the header ${undocumented} is not documented for ${status}`;
    if (!documented.content) return body ? `a body with a ${status}` : null;
    const type = String(headers['content-type']).split(';')[0] ?? '';
    const content = documented.content[type];
    if (!content) return `the type ${type} is not documented for ${status}`;
    return body === null || !type.endsWith('json') ? null : checkBody(content.schema, body);
  };
}

function hasHeader({ headers = {} }: { headers?: Record<string, unknown> }, name: string): boolean {
  return Object.keys(headers).some((known) => known.toLowerCase() === name);
}
