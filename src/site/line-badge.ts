import type { Mode } from '../transit/mode.ts';
import { type Html, html } from './html.ts';

/** The name of a route in the colour of its line; `assets/lines.css` has the colours. */
export function lineBadge({ route, mode }: { route: string; mode: Mode }): Html {
  return html`<span class="route ${mode}" data-line="${route}"><span class="visually-hidden">${mode} </span>${route}</span>`;
}
