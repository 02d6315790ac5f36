import { toSydneyWallClock } from '#src/transit/time.ts';
import { type Html, html } from './html.ts';

/**
 * Renders a moment in Sydney time. `assets/local-time.js` replaces it, and the zone name (`zoneName`), with the reader's local
 * time.
 */
export function localTime(moment: number, detail: 'time' | 'date' | 'date-time'): Html {
  const { date, time } = toSydneyWallClock(moment);
  const day = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`;
  const clock = `${time.slice(0, 2)}:${time.slice(2)}`;
  const text = { time: clock, date: day, 'date-time': `${day} ${clock}` }[detail];
  return html`<time datetime="${new Date(moment).toISOString()}" data-local="${detail}">${text}</time>`;
}

/** Name of the time zone that `localTime` shows. */
export const zoneName = html`<span data-zone>Sydney time</span>`;

/** For the head of a page with such times. The script also removes elements with `data-utc` for readers in UTC. */
export const localTimeScript = html`<script type="module" src="/assets/local-time.js"></script>`;
