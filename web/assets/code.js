// Syntax highlighting of samples, shared by the server and the browser.

/** One token in any language of our samples: a comment, string, name, number, option, or other text. */
const TOKEN = /^(?:\/\/[^\n]*|\/\*.*?\*\/|"[^"\n]*"|'[^'\n]*'|`[^`\n]*`|[\w$]+| -[A-Za-z] |.|\n)/s;
const WORDS = new Set(
  'as async await catch class const curl else export false for from fun function if import let new null of print return throw true try val var while'.split(
    ' ',
  ),
);

/**
 * Yields each token with its kind: "comment", "field", "string", "word", "option", "number", or null.
 * @param {string} code
 * @returns {Generator<[part: string, kind: string | null]>}
 */
export function* readParts(code) {
  for (let rest = code; rest !== ''; ) {
    const token = TOKEN.exec(rest)?.[0] ?? rest;
    rest = rest.slice(token.length);
    yield [token, kindOf(token, rest)];
  }
}

/**
 * @param {string} token
 * @param {string} rest
 */
function kindOf(token, rest) {
  if (/^\/[/*]./.test(token)) return 'comment';
  if (token.length > 1 && '"\'`'.includes(token.charAt(0))) return rest.startsWith(':') ? 'field' : 'string';
  if (WORDS.has(token)) return 'word';
  if (token.startsWith(' -')) return 'option';
  return /^\d+$/.test(token) ? 'number' : null;
}
