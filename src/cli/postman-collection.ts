/** The parts of our OpenAPI description that are read here. */
export interface Description {
  info: { title: string; description: string };
  paths: Record<string, { get?: DescribedOperation; post?: DescribedOperation }>;
  components: { schemas: object };
}

interface DescribedOperation {
  tags: string[];
  summary: string;
  description: string;
  parameters?: DocumentedParameter[] | undefined;
  requestBody?: { content: { 'application/json': { example: unknown } } };
  responses: Record<string, unknown>;
}

interface DocumentedParameter {
  name: string;
  in: string;
  required: boolean;
  description: string;
  schema: { examples?: unknown[]; default?: unknown };
}

/**
 * Returns a Postman collection (format 2.1, which Bruno, Insomnia and Hoppscotch import) with a request for each operation, in a
 * folder for each tag. Optional parameters are listed but not sent.
 */
export function toCollection({ info, paths }: Description, url: string): object {
  const requests = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      tag: operation.tags[0] ?? '',
      item: { name: operation.summary, request: toRequest(method, path, operation) },
    })),
  );
  const folders = Map.groupBy(requests, ({ tag }) => tag);
  return {
    info: {
      name: info.title,
      description: info.description,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{key}}', type: 'string' }] },
    variable: [
      { key: 'url', value: url },
      { key: 'key', value: '' },
    ],
    item: [...folders].map(([name, requests]) => ({ name, item: requests.map(({ item }) => item) })),
  };
}

function toRequest(method: string, path: string, { description, parameters = [], requestBody }: DescribedOperation) {
  const entriesOf = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, required, description, schema }, index, all) => ({
        key: name,
        value: String(schema.examples?.[0] ?? schema.default ?? ''),
        description,
        // Optional parameters are not sent. If none is required, the first one is sent as an example: a stop or an area.
        disabled: !required && !(index === 0 && all.every((parameter) => !parameter.required)),
      }));
  const [query, variable] = [entriesOf('query'), entriesOf('path')];
  const sentParameters = query.filter(({ disabled }) => !disabled).map(({ key, value }) => `${key}=${value}`);
  const steps = path.slice(1).replaceAll('{', ':').replaceAll('}', '');
  return {
    method: method.toUpperCase(),
    url: {
      raw: `{{url}}/${steps}${sentParameters.length > 0 ? `?${sentParameters.join('&')}` : ''}`,
      host: ['{{url}}'],
      path: steps.split('/'),
      query,
      variable,
    },
    description,
    ...(requestBody && {
      body: {
        mode: 'raw',
        raw: JSON.stringify(requestBody.content['application/json'].example, null, 2),
        options: { raw: { language: 'json' } },
      },
    }),
  };
}
