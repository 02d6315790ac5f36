import { readParts } from './assets/code.js';
import { type Html, html } from './html.ts';

/**
 * A block of code with its parts coloured; its lines are broken where the window is narrow, never cut off. `language` is
 * as Markdown calls it. `links` are put in the place of the names of fields, one after the other.
 */
export function codeBlock(code: string, language = '', links: Iterator<Html> | null = null): Html {
  const parts: Html[] = [];
  for (const [token, kind] of readParts(code)) {
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
