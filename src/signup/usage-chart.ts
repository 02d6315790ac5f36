import { barChart, isLimitShown } from '../site/bar-chart.ts';
import { type Html, html } from '../site/html.ts';

export interface DayCount {
  /** `YYYY-MM-DD`, UTC */
  day: string;
  count: number;
}

const TICK_EVERY = 7;

/** A bar chart and, for screen readers and exact numbers, a table. `days` starts with the oldest. */
export function usageChart(days: readonly DayCount[], dailyLimit: number | null): Html {
  const most = Math.max(0, ...days.map(({ count }) => count));
  const total = days.reduce((sum, { count }) => sum + count, 0);
  const limitText = dailyLimit === null ? 'no limit' : `limit ${dailyLimit.toLocaleString('en')} a day`;
  const label = `Requests a day, ${days.length} days: ${total.toLocaleString('en')} in all, ${most.toLocaleString('en')} at most; ${limitText}`;
  const bars = days.map(({ day, count }) => ({ title: `${day}: ${count.toLocaleString('en')}`, value: count }));
  const ticks = days.filter((_day, index) => (days.length - 1 - index) % TICK_EVERY === 0);
  return html`${barChart({
    label,
    bars,
    ticks: ticks.map(({ day }) => html`${day.slice(5)}`),
    limit: dailyLimit,
  })}
<p class="quiet small">${total.toLocaleString('en')} ${total === 1 ? 'request' : 'requests'} in ${days.length} days (UTC), all keys together; <span${isLimitShown(bars, dailyLimit) && html` class="limit-sign"`}>${limitText}</span>${dailyLimit !== null && !isLimitShown(bars, dailyLimit) && ', far above these'}.</p>
<details><summary>As a table</summary><div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
<thead><tr><th scope="col">Day</th><th scope="col" class="number">Requests</th></tr></thead>
<tbody>${days.toReversed().map(
    ({ day, count }) => html`<tr><th scope="row">${day}</th><td class="number">${count.toLocaleString('en')}</td></tr>
`,
  )}</tbody></table></div></details>`;
}
