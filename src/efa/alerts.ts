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
  return [...new Set(infos.filter((info) => info.priority !== 'veryLow').flatMap(mapTexts))];
}

/**
 * The texts of one notice. Some answers have the text at the top of the notice, some only in its links, most in both
 * places; several links are several texts. A text that another one contains is dropped.
 */
function mapTexts(info: Info): string[] {
  const links = info.infoLinks.filter(
    ({ subtitle, content }) => !content || content !== info.content || subtitle !== info.subtitle,
  );
  const texts = [{ ...info, speechText: info.properties?.speechText }, ...links].map(mapText);
  const isContained = (text: string, index: number) =>
    texts.some((other, at) => at !== index && contains(other, text) && (other.length > text.length || at < index));
  return texts.filter((text, index) => text !== '' && !isContained(text, index));
}

function mapText(part: Info['infoLinks'][number]): string {
  const subtitle = toPlainText(part.subtitle || part.urlText || '');
  const content = toPlainText(part.content || part.speechText || '');
  if (content === '') return subtitle;
  const heading = subtitle.replace(/[.:]$/, '');
  return saysSomethingOfItsOwn(heading, content) ? `${heading}: ${content}` : content;
}

/** Some subtitles only repeat the content, or list the lines concerned ("Airport & South Line, Inner West Line"). */
function saysSomethingOfItsOwn(subtitle: string, content: string): boolean {
  if (subtitle === '' || contains(content, subtitle)) return false;
  return !subtitle.split(', ').every((part) => /\bLines?$/.test(part));
}

function contains(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

/** Markup and entities removed, white space folded. Plain text passes through as it is. */
function toPlainText(markup: string): string {
  return stripMarkup(markup).replace(/\s+/g, ' ').trim();
}
