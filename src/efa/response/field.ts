import { compile } from 'html-to-text';

/*
 * How the fields of upstream's records are read. What is missing or has another type reads as undefined. A busy response
 * has thousands of fields: each is read by one function call that leaves nothing behind.
 */

/** An object of a response, unread. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Elements beyond it are not looked at, so that one response cannot keep the process busy. The longest real list within a
 * record had 6.
 */
export const MAX_ELEMENTS = 20;

/** Larger numbers are no durations or distances, and would spoil the times and sums computed from them. */
const MOST = 1e9;
const NUMERAL = /^-?\d+(\.\d+)?$/;
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Identifiers and names sometimes come as unquoted numbers. */
export function readText(value: unknown): string | undefined {
  const text = readRawText(value);
  return text && visibleText(text);
}

/** With characters that nobody sees: a notice is cleaned where it is joined, once for all departures that repeat it. */
export function readRawText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return Number.isFinite(value) ? String(value) : undefined;
}

/** Characters; the longest real name has about a hundred. A longer one is no name, and its record is bad. */
const LONGEST_NAME = 1000;

export function readIdentifier(value: unknown): string | undefined {
  const text = readText(value);
  return text !== undefined && text.length <= LONGEST_NAME ? text : undefined;
}

/** Reads a text for riders, such as a name or a platform. */
export function readName(value: unknown): string | undefined {
  const text = readRawText(value);
  return text !== undefined && text.length <= LONGEST_NAME ? toPlainText(text) : undefined;
}

export function readNumber(value: unknown): number | undefined {
  const read = typeof value === 'string' && NUMERAL.test(value) ? Number(value) : value;
  return typeof read === 'number' && Math.abs(read) <= MOST ? read : undefined;
}

export function readFlag(value: unknown): boolean | undefined {
  if (typeof value === 'string') return FLAGS.get(value.toLowerCase());
  return typeof value === 'boolean' ? value : undefined;
}

export function readObject(value: unknown): JsonObject | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as JsonObject) : undefined;
}

/** The first elements of a list; those that cannot be read are dropped. */
export function readList<Item>(
  value: unknown,
  read: (element: unknown) => Item | undefined,
  max = MAX_ELEMENTS,
): Item[] {
  const items: Item[] = [];
  for (const element of firstElements(value, max)) {
    const item = read(element);
    if (item !== undefined) items.push(item);
  }
  return items;
}

/** For lists of codes and names, in which an element of another type means something else. */
export function readStrings(value: unknown): string[] {
  return readList(value, (element) => (typeof element === 'string' ? visibleText(element) : undefined));
}

export function readNumbers(value: unknown): number[] {
  return readList(value, (element) => (typeof element === 'number' ? element : undefined));
}

/** Unread. The only element is sometimes given bare; null and a missing key are the empty list. */
export function firstElements(value: unknown, max = Number.POSITIVE_INFINITY): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [value];
  return value.length > max ? value.slice(0, max) : value;
}

/** Real markup is a few lists deep; a deeper one would overflow the stack. */
const MAX_DEPTH = 50;
/** Characters of one text with markup that are read; the longest notice that was recorded has 2,378. */
export const MAX_LENGTH = 20_000;
/** Real texts are encoded once, some twice. What still changes after so many passes is made up. */
const MAX_PASSES = 10;

/**
 * Characters that nobody sees: control characters but white space, bidirectional controls, zero-width characters, tags
 * (U+E0000 to U+E0FFF), private ones and halves of surrogate pairs. The two selectors of a character's style stay.
 */
const INVISIBLE = /[[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]--[\s\ufe0e\ufe0f]]/v;
const ALL_INVISIBLE = new RegExp(INVISIBLE, 'gv');
/** Nearly every text is plain ASCII, which this finds in a tenth of the time that the class above takes. */
const NOT_ASCII = /[^\s\x20-\x7e]/;
/** Matches what may be a tag or an entity. */
const MARKUP = /<|&[#a-z]/i;
/** An ampersand that was encoded again and again. */
const ENCODED_AGAIN = /&(?:amp;?|#0{0,6}38;?|#x0{0,6}26;?){1,20}/gi;

const stripMarkup = compile({
  wordwrap: false,
  limits: { maxDepth: MAX_DEPTH, ellipsis: '' },
  selectors: [
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'img', format: 'skip' },
    { selector: 'ul', options: { itemPrefix: ' • ' } },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: 'table', format: 'block' },
  ],
});

/** The text without characters that nobody sees. */
function visibleText(text: string): string {
  return NOT_ASCII.test(text) && INVISIBLE.test(text) ? text.replace(ALL_INVISIBLE, '') : text;
}

/**
 * The text as riders may see it: without markup, however often it was encoded, and without characters that nobody sees.
 * Most texts have neither and are returned as they are.
 */
export function toPlainText(text: string): string {
  let plain = visibleText(text);
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    if (!MARKUP.test(plain)) return plain;
    const stripped = visibleText(foldSpace(stripMarkup(plain.slice(0, MAX_LENGTH).replace(ENCODED_AGAIN, '&'))));
    if (stripped === plain) return plain;
    plain = stripped;
  }
  return plain.replace(/[<>&]/g, '');
}

export function foldSpace(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
