import { describe, expect, it } from 'vitest';
import { barChart } from '#web/bar-chart.ts';

const draw = (values: number[], limit: number | null = null) =>
  barChart({ label: 'x', ticks: [], limit, bars: values.map((value) => ({ title: String(value), value })) }).markup;
const scaleOf = (markup: string) => [...markup.matchAll(/<span>([\d,.]+)<\/span>/g)].map(([, text]) => text);

describe('a bar chart', () => {
  it.each([
    [
      [0, 3, 7],
      ['8', '4', '0'],
    ],
    [[812], ['1,000', '500', '0']],
    [[], ['2', '1', '0']],
  ])('a bar chart of %j has a round scale: %j', (values, scale) => {
    expect(scaleOf(draw(values))).toEqual(scale);
  });

  it('a bar chart has a line for the limit, unless that is far above all bars', () => {
    expect(draw([700], 1000)).toContain('limit-line');
    expect(scaleOf(draw([700], 1000))[0]).toBe('1,000');
    expect(draw([10], 1000)).not.toContain('limit-line');
    expect(draw([0, 0], 1000)).toContain('limit-line');
  });

  it('a bar chart shows the smallest bar above zero', () => {
    expect(draw([1, 100_000])).toMatch(/<title>1<\/title>.*?class="good"[^>]*height="1.5"/);
    expect(draw([0])).not.toContain('class="good"');
  });
});
