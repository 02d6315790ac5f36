import type { Report } from '../../telemetry/status-report.ts';
import { barChart } from '../bar-chart.ts';
import { type Html, html } from '../html.ts';
import { localTime, zoneName } from '../local-time.ts';

const TICK_EVERY = 24;

/** Responses of the last 24 hours by the quarter of an hour, failures in another colour. */
export function dayChart(quarters: Report['quarters']): Html {
  const answered = quarters.reduce((sum, quarter) => sum + quarter.answered, 0);
  const failed = quarters.reduce((sum, quarter) => sum + quarter.failed, 0);
  const bars = quarters.map(({ from, ...quarter }) => ({
    title: `${utcClock(from)} UTC: ${count(quarter.answered, 'answer')}, ${count(quarter.failed, 'failure')}`,
    value: quarter.answered,
    bad: quarter.failed,
  }));
  const tickMoments = quarters.filter((_quarter, index) => index % TICK_EVERY === 0 || index === quarters.length - 1);
  const label = `Responses in each quarter of an hour, 24 hours: ${count(answered, 'answer')}, of them ${count(failed, 'failure')}`;
  return html`${barChart({
    label,
    bars,
    ticks: tickMoments.map(({ from }) => html`${localTime(from, 'time')}<span data-utc><br>${utcClock(from)}</span>`),
  })}
<p class="quiet small">Responses in each quarter of an hour: ${count(answered, 'answer')}, of them <span${failed > 0 && html` class="failed-sign"`}>${count(failed, 'failure')}</span>. Below the bars: ${zoneName}<span data-utc>, and UTC under it</span>.</p>`;
}

export function utcClock(at: Date): string {
  return at.toISOString().slice(11, 16);
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${number === 1 ? noun : `${noun}s`}`;
}
