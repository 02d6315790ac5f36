import { toSydneyWallClock } from '../../transit/time.ts';
import { type Html, html } from './html.ts';

/**
 * A moment in Sydney time; `assets/local-time.js` writes it in the reader's own time instead, and "Sydney" beside it
 * (`zoneName`) too.
 */
export function localTime(moment: Date, detail: 'time' | 'date' | 'date-time'): Html {
  const { date, time } = toSydneyWallClock(moment);
  const day = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`;
  const clock = `${time.slice(0, 2)}:${time.slice(2)}`;
  const text = { time: clock, date: day, 'date-time': `${day} ${clock}` }[detail];
  return html`<time datetime="${moment.toISOString()}" data-local="${detail}">${text}</time>`;
}

/** The name of the time zone that `localTime` shows. */
export const zoneName = html`<span data-zone>Sydney time</span>`;

/** Belongs into the head of a page with such times. The script takes away what is in `data-utc` where the reader's own time is UTC. */
export const localTimeScript = html`<script type="module" src="/assets/local-time.js"></script>`;
