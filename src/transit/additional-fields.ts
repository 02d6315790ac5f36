import { z } from 'zod';
import { describe, oneOf, optional, withDefault } from './parameter.ts';

/*
 * Fields that a response has only when its caller asks for them. Without these parameters a response has exactly the
 * fields of the specification.
 */

/** `description` says where the cancelled records are listed. */
export function cancelledParameter(description: string) {
  const schema = withDefault(oneOf(['exclude', 'include']), 'exclude');
  return describe(
    schema,
    `\`include\` lists cancelled services too, and every record then has \`cancelled\`. ${description}`,
  );
}

export const cancelledField = z
  .boolean()
  .optional()
  .meta({ description: 'Whether it is cancelled; only with `cancelled=include`' });

/** `fields` says which identifiers the response then has. */
export function includeParameter(fields: string) {
  return describe(optional(oneOf(['ids'])), `\`ids\` adds identifiers: ${fields}`, 'ids');
}

export const tripIdField = z.string().nullable().optional().meta({
  description:
    'The run of the vehicle, the same on boards and in journeys; null where it is not known. It stays the same within a service day, and another day may use it again. Only with `include=ids`',
  example: '513A.1402.121.60.T.8.84719430',
});

/** The additional fields that a caller asked for. */
export interface AskedFields {
  cancelled: 'exclude' | 'include';
  include?: 'ids' | undefined;
}
