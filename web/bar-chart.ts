import { type Html, html } from './html.ts';

/** `bad` is a part of `value`, not added to it. */
interface Bar {
  /** Tooltip of the bar. */
  title: string;
  value: number;
  /** Part of the value that is drawn as failures. */
  bad?: number;
}

const HEIGHT = 100;
const BAR = 8;
const GAP = 2;
/** A limit above this multiple of the highest bar is not drawn, because the bars would become too small. */
const FAR = 5;

/** Renders bars as SVG and their axis as HTML, so that the bars stretch with the page but the texts do not. */
export function barChart(chart: {
  /** Label for screen readers. */
  label: string;
  bars: readonly Bar[];
  /** Labels below the bars, equally spaced from end to end. */
  ticks: readonly Html[];
  /** Drawn as a line across the chart, unless it is far above all bars. */
  limit?: number | null;
}): Html {
  const { label, bars, ticks, limit = null } = chart;
  const peak = highest(bars);
  const shownLimit = isLimitShown(bars, limit) ? limit : null;
  const top = roundUp(Math.max(1, peak, shownLimit ?? 0));
  const heightOf = (value: number) => (value === 0 ? 0 : Math.max(1.5, (value / top) * HEIGHT));
  const width = bars.length * (BAR + GAP);
  return html`<figure class="chart">
<div class="chart-scale" aria-hidden="true"><span>${top.toLocaleString('en')}</span><span>${(top / 2).toLocaleString('en')}</span><span>0</span></div>
<svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">
${[0, HEIGHT / 2, HEIGHT].map((y) => html`<line class="grid-line" x1="0" x2="${width}" y1="${y}" y2="${y}"/>`)}
${bars.map(({ title, value, bad = 0 }, index) => {
  const x = index * (BAR + GAP) + GAP / 2;
  const [height, badHeight] = [heightOf(value), heightOf(bad)];
  return html`<g><title>${title}</title><rect class="hit" x="${x}" y="0" width="${BAR}" height="${HEIGHT}"/>${value > 0 && html`<rect class="good" x="${x}" y="${HEIGHT - height}" width="${BAR}" height="${height}"/>`}${bad > 0 && html`<rect class="bad" x="${x}" y="${HEIGHT - badHeight}" width="${BAR}" height="${badHeight}"/>`}</g>
`;
})}${shownLimit !== null && html`<line class="limit-line" x1="0" x2="${width}" y1="${HEIGHT - heightOf(shownLimit)}" y2="${HEIGHT - heightOf(shownLimit)}"/>`}</svg>
<div class="chart-ticks">${ticks.map((tick) => html`<span>${tick}</span>`)}</div>
</figure>`;
}

/** Whether the chart shows a line for the limit. */
export function isLimitShown(bars: readonly { value: number }[], limit: number | null): boolean {
  const peak = highest(bars);
  return limit !== null && (peak === 0 || limit <= peak * FAR);
}

function highest(bars: readonly { value: number }[]): number {
  return Math.max(0, ...bars.map(({ value }) => value));
}

/** Rounds up to a number that is also round when halved. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 6, 8, 10].find((factor) => factor * power >= value) ?? 10;
  return Math.max(2, step * power);
}
