import { type Html, html } from '../html.ts';

/** A heading that is a link to itself, so that its address can be copied. */
export function heading(anchor: string, title: Html | string, level: 2 | 3 = 2): Html {
  const tag = { markup: `h${level}` };
  return html`<${tag} id="${anchor}"><a href="#${anchor}">${title}</a></${tag}>`;
}

/** "departures[].realtime_at" → "field-departures-realtime_at" */
export function fieldAnchor(path: string): string {
  return `field-${path.replaceAll('[]', '').replaceAll('.', '-')}`;
}
