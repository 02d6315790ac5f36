import { compile } from 'html-to-text';
import type { Info } from './payload.ts';

const stripMarkup = compile({
  wordwrap: false,
  selectors: [
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'img', format: 'skip' },
    { selector: 'ul', options: { itemPrefix: ' • ' } },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: 'table', format: 'block' },
  ],
});

/** Disruption notices as plain text, in upstream's order, each text once. Permanent notices (`veryLow`) are left out. */
export function mapAlerts(infos: readonly Info[]): string[] {
  const texts = infos.filter((info) => info.priority !== 'veryLow').map(mapAlert);
  return [...new Set(texts)].filter((text) => text !== '');
}

function mapAlert(info: Info): string {
  const subtitle = toPlainText(info.subtitle || info.urlText || '');
  const content = toPlainText(info.content || info.properties?.speechText || '');
  if (content === '') return subtitle;
  const heading = subtitle.replace(/[.:]$/, '');
  return saysSomethingOfItsOwn(heading, content) ? `${heading}: ${content}` : content;
}

/** Some subtitles only repeat the content, or list the lines concerned ("Airport & South Line, Inner West Line"). */
function saysSomethingOfItsOwn(subtitle: string, content: string): boolean {
  if (subtitle === '' || content.toLowerCase().includes(subtitle.toLowerCase())) return false;
  return !subtitle.split(', ').every((part) => /\bLines?$/.test(part));
}

/** Markup and entities removed, white space folded. Plain text passes through as it is. */
function toPlainText(markup: string): string {
  return stripMarkup(markup).replace(/\s+/g, ' ').trim();
}
