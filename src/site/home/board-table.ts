import type { Departures } from '../../departures/departure.ts';
import { toSydneyWallClock } from '../../transit/time.ts';
import { type Html, html } from '../html.ts';
import { lineBadge } from '../line-badge.ts';

/** The board of the home page, with its age. `assets/live-board.js` counts the age on and fetches the table anew. */
export function boardTable(board: Departures | null, { isSandbox, now }: { isSandbox: boolean; now: Date }): Html {
  if (!board) {
    return html`<div class="card" id="live-board"><p>The departure board of Town Hall would be here. The transport authority has not answered yet; <a href="/status">how it is doing</a>.</p></div>`;
  }
  const ageSeconds = Math.max(0, Math.round((now.getTime() - Date.parse(board.retrieved_at)) / 1000));
  return html`<div class="card board" id="live-board"><table>
<caption>${board.stop_name} <span>${isSandbox ? 'Made up by the sandbox, minute by minute' : 'Live, from this service'}. As of <time datetime="${board.retrieved_at}">${sydneyClock(board.retrieved_at)}</time> in Sydney, <span class="age" data-age-seconds="${ageSeconds}">${ageSeconds} s ago</span>.</span></caption>
<thead class="visually-hidden"><tr><th scope="col">Route</th><th scope="col">Destination and platform</th><th scope="col">Leaves</th></tr></thead>
<tbody>${board.departures.map(
    ({ route, mode, destination, platform, minutes_away, is_live }) => html`<tr>
<td>${lineBadge({ route, mode })}</td>
<td>${destination}<span class="hint">${platform ?? ''}</span></td>
<td class="number">${is_live ? html`<span class="live">${leaves(minutes_away)}</span>` : leaves(minutes_away)}</td></tr>
`,
  )}</tbody></table></div>`;
}

function leaves(minutes: number): string {
  return minutes === 0 ? 'now' : `${minutes} min`;
}

function sydneyClock(timestamp: string): string {
  const { time } = toSydneyWallClock(new Date(timestamp));
  return `${time.slice(0, 2)}:${time.slice(2)}:${timestamp.slice(17, 19)}`;
}
