// The parts of code by their kind, for the server, which draws samples, and for the browser, which draws them anew.

/** One token of the few languages of our samples: a comment, a string, a name or a number, an option, anything else. */
const TOKEN = /^(?:\/\/[^\n]*|\/\*.*?\*\/|"[^"\n]*"|'[^'\n]*'|`[^`\n]*`|[\w$]+| -[A-Za-z] |.|\n)/s;
const WORDS = new Set(
  'as async await catch class const curl else export false for from fun function if import let new null of print return throw true try val var while'.split(
    ' ',
  ),
);

/**
 * Each part with its kind: "comment", "field", "string", "word", "option", "number", or null for anything else.
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
