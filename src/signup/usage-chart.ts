import { type Html, html } from '../site/html.ts';

export interface DayCount {
  /** `YYYY-MM-DD`, UTC */
  day: string;
  count: number;
}

const BAR = 16;
const GAP = 4;
const HEIGHT = 90;

/** A bar chart and, for screen readers and exact numbers, a table. `days` starts with the oldest. */
export function usageChart(days: readonly DayCount[]): Html {
  const most = Math.max(1, ...days.map(({ count }) => count));
  const total = days.reduce((sum, { count }) => sum + count, 0);
  const width = days.length * (BAR + GAP);
  return html`<svg class="chart" viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-label="Requests a day, ${days.length} days: ${total.toLocaleString('en')} in all, ${most.toLocaleString('en')} at most">
${days.map(({ day, count }, index) => {
  const height = count === 0 ? 1 : Math.max(2, Math.round((count / most) * HEIGHT));
  return html`<rect x="${index * (BAR + GAP)}" y="${HEIGHT - height}" width="${BAR}" height="${height}"${count === 0 && html` class="none"`}><title>${day}: ${count}</title></rect>
`;
})}</svg>
<p class="quiet small">${total.toLocaleString('en')} ${total === 1 ? 'request' : 'requests'} in ${days.length} days (UTC), all keys together.</p>
<details><summary>As a table</summary><div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
<thead><tr><th scope="col">Day</th><th scope="col" class="number">Requests</th></tr></thead>
<tbody>${days.toReversed().map(
    ({ day, count }) => html`<tr><th scope="row">${day}</th><td class="number">${count.toLocaleString('en')}</td></tr>
`,
  )}</tbody></table></div></details>`;
}
