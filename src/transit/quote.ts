const MAX_LENGTH = 100;

/**
 * A received value for a message: as JSON, which shows blanks and control characters. A long one is cut by characters,
 * because half of a surrogate pair would be invalid.
 */
export function quote(value: unknown): string {
  const text = JSON.stringify(value);
  const characters = Array.from(text.slice(0, 2 * MAX_LENGTH + 1));
  if (characters.length <= MAX_LENGTH) return text;
  return `${characters.slice(0, MAX_LENGTH).join('')}…${typeof value === 'string' ? '"' : ''}`;
}
