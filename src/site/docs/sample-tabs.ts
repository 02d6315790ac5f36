import { copyableCode } from '../code-block.ts';
import { type Html, html } from '../html.ts';

/** Languages of samples that stand side by side, as Markdown calls them. */
export const LANGUAGES: Readonly<Record<string, string>> = {
  sh: 'curl',
  js: 'JavaScript',
  python: 'Python',
  kotlin: 'Kotlin',
  swift: 'Swift',
};

/** Languages of samples that only the pages of operations have. */
const OTHERS: Readonly<Record<string, string>> = { ts: 'Client in TypeScript', mcp: 'MCP' };

export interface LanguageSample {
  language: string;
  code: string;
}

/** The same in several languages: a radio button for each, so that no script is needed to choose. */
export function sampleTabs(samples: readonly LanguageSample[]): Html {
  const group = `sample-${samples.map(({ code }) => hash(code)).join('')}`.slice(0, 24);
  return html`<fieldset class="tabs"><legend class="visually-hidden">Language of the sample</legend>
${samples.map(
  ({ language }, index) =>
    html`<input type="radio" name="${group}" id="${group}-${language}" value="${language}"${index === 0 && html` checked`}><label for="${group}-${language}">${LANGUAGES[language] ?? OTHERS[language] ?? language}</label>
`,
)}${samples.map(({ code, language }) => copyableCode(code, language))}</fieldset>
`;
}

/** A name that differs from block to block and is the same at every start. */
function hash(text: string): string {
  let sum = 0;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return sum.toString(36);
}
