import { z } from 'zod';

/** The schemas of responses: each field has a description and perhaps an example, for OpenAPI. */

export function field<Schema extends z.ZodType>(schema: Schema, description: string, example?: unknown): Schema {
  return schema.meta({ description, ...(example !== undefined && { example }) });
}

/** An object with a name in OpenAPI. */
export function record<Fields extends z.core.$ZodLooseShape>(id: string, description: string, fields: Fields) {
  return z.strictObject(fields).meta({ id, description });
}

export const text = (description: string, example?: string) => field(z.string(), description, example);
export const textOrNull = (description: string, example?: string | null) =>
  field(z.string().nullable(), description, example);
export const flag = (description: string) => field(z.boolean(), description);
export const flagOrNull = (description: string) => field(z.boolean().nullable(), description);
/** A whole number from 0. */
export const count = (description: string, example?: number) => field(z.int().min(0), description, example);

export function list<Schema extends z.ZodType>(items: Schema, description: string, example?: readonly unknown[]) {
  return field(z.array(items), description, example);
}

/** An object without a name of its own. */
export function part<Fields extends z.core.$ZodLooseShape>(description: string, fields: Fields) {
  return z.strictObject(fields).meta({ description });
}
