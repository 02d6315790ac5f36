import { type Html, html } from './html.ts';

/** One token of the few languages of our samples: a comment, a string, a name or a number, an option, anything else. */
const TOKEN = /^(?:\/\/[^\n]*|\/\*.*?\*\/|"[^"\n]*"|'[^'\n]*'|`[^`\n]*`|[\w$]+| -[A-Za-z] |.|\n)/s;
const WORDS = new Set(
  'as async await catch class const curl else export false for from fun function if import let new null of print return throw true try val var while'.split(
    ' ',
  ),
);

/**
 * A block of code with its parts coloured; its lines are broken where the window is narrow, never cut off. `language` is
 * as Markdown calls it. `links` are put in the place of the names of fields, one after the other.
 */
export function codeBlock(code: string, language = '', links: Iterator<Html> | null = null): Html {
  const parts: Html[] = [];
  for (let rest = code; rest !== ''; ) {
    const token = TOKEN.exec(rest)?.[0] ?? rest;
    rest = rest.slice(token.length);
    const kind = kindOf(token, rest);
    const link = kind === 'field' && links?.next().value;
    parts.push(link || (kind ? html`<span class="code-${kind}">${token}</span>` : html`${token}`));
  }
  return html`<pre tabindex="0"><code${language && html` class="language-${language}"`}>${parts}</code></pre>`;
}

/** The same, with a button to copy it where scripts run. */
export function copyableCode(...block: Parameters<typeof codeBlock>): Html {
  return html`<div class="copyable">${codeBlock(...block)}</div>
`;
}

function kindOf(token: string, rest: string): string | null {
  if (/^\/[/*]./.test(token)) return 'comment';
  if (token.length > 1 && '"\'`'.includes(token.charAt(0))) return rest.startsWith(':') ? 'field' : 'string';
  if (WORDS.has(token)) return 'word';
  if (token.startsWith(' -')) return 'option';
  return /^\d+$/.test(token) ? 'number' : null;
}
