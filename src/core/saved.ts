import type { z } from 'zod';

/** Parses saved JSON. Null if it is missing, too long or damaged, or was saved by another version in another format. */
export function parseSaved<Value>(schema: z.ZodType<Value>, text: string | null, maxLength = 1_000_000): Value | null {
  if (text === null || text.length > maxLength) return null;
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
