import { compile } from 'html-to-text';

/**
 * Readers for fields of upstream's records. A missing value or one of another type reads as undefined; so does a whole record that
 * is no object. A busy response has thousands of fields, so each is read by one function call without garbage.
 */

/** An unparsed object of a response. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Further elements are ignored, so that one response cannot keep the process busy. The longest real list in a record had 6. */
export const MAX_ELEMENTS = 20;

/** Larger numbers cannot be durations or distances, and would break computed times and sums. */
const MAX_NUMBER = 1e9;
const NUMERAL = /^-?\d+(\.\d+)?$/;
const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Reads a text without invisible characters. IDs and names sometimes come as unquoted numbers. */
export function parseText(value: unknown): string | undefined {
  const text = parseRawText(value);
  return text && visibleText(text);
}

/** Keeps invisible characters: a notice is cleaned when joined, once for all departures that repeat it. */
export function parseRawText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return Number.isFinite(value) ? String(value) : undefined;
}

/** In characters; the longest real name has about a hundred. A record with a longer one is bad. */
const MAX_NAME_LENGTH = 1000;

export function parseIdentifier(value: unknown): string | undefined {
  const text = parseText(value);
  return text !== undefined && text.length <= MAX_NAME_LENGTH ? text : undefined;
}

/** Reads a text shown to riders, such as a name or platform. */
export function parseName(value: unknown): string | undefined {
  const text = parseRawText(value);
  return text !== undefined && text.length <= MAX_NAME_LENGTH ? toPlainText(text) : undefined;
}

export function parseNumber(value: unknown): number | undefined {
  const read = typeof value === 'string' && NUMERAL.test(value) ? Number(value) : value;
  return typeof read === 'number' && Math.abs(read) <= MAX_NUMBER ? read : undefined;
}

export function parseFlag(value: unknown): boolean | undefined {
  if (typeof value === 'string') return FLAGS.get(value.toLowerCase());
  return typeof value === 'boolean' ? value : undefined;
}

export function parseObject(value: unknown): JsonObject | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as JsonObject) : undefined;
}

/** The first elements of a list, without unreadable ones. */
export function parseList<Item>(
  value: unknown,
  parse: (element: unknown) => Item | undefined,
  max = MAX_ELEMENTS,
): Item[] {
  const items: Item[] = [];
  for (const element of firstElements(value, max)) {
    const item = parse(element);
    if (item !== undefined) items.push(item);
  }
  return items;
}

/** For lists of codes and names, where an element of another type has another meaning. */
export function parseStrings(value: unknown): string[] {
  return parseList(value, (element) => (typeof element === 'string' ? visibleText(element) : undefined));
}

export function parseNumbers(value: unknown): number[] {
  return parseList(value, (element) => (typeof element === 'number' ? element : undefined));
}

/** The unparsed elements. A single element is sometimes sent bare; null or a missing key is the empty list. */
export function firstElements(value: unknown, max = Number.POSITIVE_INFINITY): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [value];
  return value.length > max ? value.slice(0, max) : value;
}

/** Real markup is nested a few levels; deeper nesting would overflow the stack. */
const MAX_DEPTH = 50;
/** Maximum characters read of a text with markup; the longest recorded notice has 2,378. */
export const MAX_LENGTH = 20_000;
/** Real texts are encoded once or twice. A text that still changes after this many passes is malicious. */
const MAX_PASSES = 10;

/**
 * Invisible characters: control characters except white space, bidirectional controls, zero-width characters, tags (U+E0000 to
 * U+E0FFF), private-use characters and lone surrogates. The two variation selectors of text and emoji style are kept.
 */
const INVISIBLE = /[[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]--[\s\ufe0e\ufe0f]]/v;
const ALL_INVISIBLE = new RegExp(INVISIBLE, 'gv');
/** Nearly every text is plain ASCII, which this detects ten times as fast as the class above. */
const NOT_ASCII = /[^\s\x20-\x7e]/;
/** Matches a possible tag or entity. */
const MARKUP = /<|&[#a-z]/i;
/** An ampersand that was encoded repeatedly. */
const ENCODED_AGAIN = /&(?:amp;?|#0{0,6}38;?|#x0{0,6}26;?){1,20}/gi;

/** Mark rows and cells of tables while markup is removed. Texts do not contain them: they are invisible characters. */
const [ROW, ROW_END, CELL] = ['\u{f0000}', '\u{f0001}', '\u{f0002}'] as const;
const INNERMOST_ROW = /\u{f0000}([^\u{f0000}\u{f0001}]*)\u{f0001}/gu;
const MARKS = /[\u{f0000}-\u{f0002}]/gu;
/** Elements that browsers put on separate lines, but html-to-text leaves within a line. */
const BLOCKS =
  'address caption center dd details dl dt fieldset figcaption figure hgroup legend li menu option summary table tbody tfoot thead';

const removeTags = compile({
  wordwrap: false,
  limits: { maxDepth: MAX_DEPTH, ellipsis: '' },
  selectors: [
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'img', format: 'skip' },
    { selector: 'ul', options: { itemPrefix: ' • ' } },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    ...BLOCKS.split(' ').map((selector) => ({ selector, format: 'block' })),
    { selector: 'tr', format: 'inlineSurround', options: { prefix: ROW, suffix: ROW_END } },
    ...['td', 'th'].map((selector) => ({ selector, format: 'inlineSurround', options: { prefix: CELL } })),
  ],
});

/** A row of a table becomes a list item with bars between its cells. A row with a single text is layout, not data. */
function stripMarkup(markup: string): string {
  let text = removeTags(markup);
  // Rows may contain tables.
  for (let depth = 0; depth < MAX_DEPTH && text.includes(ROW); depth++) {
    text = text.replace(INNERMOST_ROW, (_row, content: string) => {
      const [before = '', ...cells] = content.split(CELL).map(foldSpace);
      const isData = cells.filter((cell) => cell !== '').length > 1;
      return isData
        ? ` ${before} • ${cells.map((cell) => cell || '–').join(' | ')} `
        : ` ${content.replaceAll(CELL, ' ')} `;
    });
  }
  return text.replace(MARKS, ' ');
}

function visibleText(text: string): string {
  return NOT_ASCII.test(text) && INVISIBLE.test(text) ? text.replace(ALL_INVISIBLE, '') : text;
}

/**
 * The text as shown to riders: without markup, however often encoded, and without invisible characters. Most texts have neither
 * and are returned unchanged.
 */
export function toPlainText(text: string): string {
  let plainText = visibleText(text);
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    if (!MARKUP.test(plainText)) return plainText;
    const stripped = visibleText(foldSpace(stripMarkup(plainText.slice(0, MAX_LENGTH).replace(ENCODED_AGAIN, '&'))));
    if (stripped === plainText) return plainText;
    plainText = stripped;
  }
  return plainText.replace(/[<>&]/g, '');
}

export function foldSpace(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
