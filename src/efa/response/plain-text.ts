import { compile } from 'html-to-text';

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
export function visibleText(text: string): string {
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
