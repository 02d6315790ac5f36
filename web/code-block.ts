import { readParts } from './assets/code.js';
import { type Html, html } from './html.ts';

/**
 * Renders code with syntax colours; long lines wrap. `language` is Markdown's name for it. `links` replace the names of fields,
 * in order.
 */
export function codeBlock(code: string, language = '', links: Iterator<Html> | null = null): Html {
  const parts: Html[] = [];
  for (const [token, kind] of readParts(code)) {
    const link = kind === 'field' && links?.next().value;
    parts.push(link || (kind ? html`<span class="code-${kind}">${token}</span>` : html`${token}`));
  }
  return html`<pre tabindex="0"><code${language && html` class="language-${language}"`}>${parts}</code></pre>`;
}

/** Like `codeBlock`, with a copy button if scripts run. */
export function copyableCode(code: string, language?: string, links?: Iterator<Html>): Html {
  return html`<div class="copyable">${codeBlock(code, language, links)}</div>
`;
}

/** Languages of samples shown as tabs, by Markdown's names for them. */
export const LANGUAGES: Readonly<Record<string, string>> = {
  sh: 'curl',
  js: 'JavaScript',
  python: 'Python',
  kotlin: 'Kotlin',
  swift: 'Swift',
};

/** Languages of samples that appear only on operation pages. */
const OTHERS: Readonly<Record<string, string>> = { ts: 'Client in TypeScript', mcp: 'MCP' };

/** Renders a sample in several languages, with a radio button for each, so that choosing needs no script. */
export function sampleTabs(samples: readonly { language: string; code: string }[]): Html {
  const group = `sample-${samples.map(({ code }) => hash(code)).join('')}`.slice(0, 24);
  return html`<fieldset class="tabs"><legend class="visually-hidden">Language of the sample</legend>
${samples.map(
  ({ language }, index) =>
    html`<input type="radio" name="${group}" id="${group}-${language}" value="${language}"${index === 0 && html` checked`}><label for="${group}-${language}">${LANGUAGES[language] ?? OTHERS[language] ?? language}</label>
`,
)}${samples.map(({ code, language }) => copyableCode(code, language))}</fieldset>
`;
}

/** Returns a name that is unique per block and the same at every start. */
function hash(text: string): string {
  let sum = 0;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return sum.toString(36);
}
