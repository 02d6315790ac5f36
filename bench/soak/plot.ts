import { readFileSync, writeFileSync } from 'node:fs';

export interface Sample {
  /** Minutes since the load began. */
  minute: number;
  /** Megabytes (millions of bytes): the group without files that are only cached, and with them; heap; caches. */
  anonymous: number;
  usage: number;
  heap: number;
  caches: number;
  /** An import ran in this minute, or the service took its timetable. */
  isImport: boolean;
}

const WIDTH = 900;
const HEIGHT = 420;
const LEFT = 60;
const BOTTOM = 370;
const RIGHT = 880;
const TOP = 40;
const LINES = {
  usage: ['#b0b0b0', 'group, with cached files'],
  anonymous: ['#c0392b', 'group, anonymous memory'],
  heap: ['#2471a3', 'JavaScript heap in use'],
  caches: ['#1e8449', 'caches, as counted'],
} as const;

/** The line of least squares through the anonymous memory of the last half. The slope is in megabytes an hour. */
export function fitLastHalf(samples: readonly Sample[]) {
  const last = samples.filter(({ minute }) => minute > (samples.at(-1)?.minute ?? 0) / 2);
  const mean = (of: (sample: Sample) => number) => last.reduce((sum, one) => sum + of(one), 0) / last.length;
  const [minute, held] = [mean((one) => one.minute), mean((one) => one.anonymous)];
  const spread = mean((one) => (one.minute - minute) ** 2);
  const perMinute = mean((one) => (one.minute - minute) * (one.anonymous - held)) / spread;
  const valueAt = (at: number) => held + perMinute * (at - minute);
  return { slope: perMinute * 60, from: last[0]?.minute ?? 0, to: last.at(-1)?.minute ?? 0, valueAt };
}

/** The samples over time as an SVG document. */
export function plot(samples: readonly Sample[], title: string): string {
  const lastMinute = samples.at(-1)?.minute ?? 1;
  const top = Math.ceil(Math.max(...samples.flatMap(({ usage, anonymous }) => [usage, anonymous])) / 100) * 100;
  const x = (minute: number) => round(LEFT + (minute / lastMinute) * (RIGHT - LEFT));
  const y = (megabytes: number) => round(BOTTOM - (megabytes / top) * (BOTTOM - TOP));
  const text = (left: number, down: number, content: string, more = '') =>
    `<text x="${left}" y="${down}"${more}>${content}</text>`;
  const line = (x1: number, y1: number, x2: number, y2: number, stroke: string, more = '') =>
    `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${stroke}"${more}/>`;
  const rows = Array.from({ length: top / 100 + 1 }, (_, index) => index * 100);
  const step = [1, 5, 10, 20].find((minutes) => lastMinute / minutes <= 12) ?? 60;
  const columns = Array.from({ length: Math.floor(lastMinute / step) + 1 }, (_, index) => index * step);
  const imports = samples.flatMap(({ minute, isImport }) => (isImport ? [minute] : []));
  const { slope, from, to, valueAt } = fitLastHalf(samples);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<title>${title}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    text(LEFT, 20, title, ' font-size="14"'),
    ...rows.flatMap((mb) => [
      line(LEFT, y(mb), RIGHT, y(mb), '#e5e5e5'),
      text(LEFT - 8, y(mb) + 4, `${mb}`, ' text-anchor="end"'),
    ]),
    ...columns.map((minute) => text(x(minute), BOTTOM + 18, `${minute}`, ' text-anchor="middle"')),
    text(LEFT - 8, TOP - 8, 'MB', ' text-anchor="end"'),
    text(RIGHT, BOTTOM + 18, 'minutes', ' text-anchor="end" dy="15"'),
    ...imports.map(
      (minute) =>
        `<rect x="${x(minute - 1)}" y="${TOP}" width="${x(1) - x(0)}" height="${BOTTOM - TOP}" fill="#8e44ad" fill-opacity="0.15"/>`,
    ),
    ...imports.slice(0, 1).map((minute) => text(x(minute - 1), TOP - 8, 'import', ' fill="#8e44ad"')),
    ...Object.entries(LINES).map(([name, [colour]]) => {
      const points = samples.map((sample) => `${x(sample.minute)},${y(sample[name as keyof typeof LINES])}`);
      return `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${points.join(' ')}"/>`;
    }),
    line(x(from), y(valueAt(from)), x(to), y(valueAt(to)), '#000', ' stroke-dasharray="6 3"'),
    text(x(to), y(valueAt(to)) - 10, `${slope.toFixed(1)} MB an hour`, ' text-anchor="end" font-weight="bold"'),
    ...Object.values(LINES).map(([colour, name], index) =>
      text(LEFT + index * 190, HEIGHT - 8, name, ` fill="${colour}"`),
    ),
    '</svg>\n',
  ].join('\n');
}

/** `node bench/soak/plot.ts SAMPLES.jsonl OUT.svg` draws a run, or what there is of it. */
if (import.meta.main) {
  const [from = '', to = ''] = process.argv.slice(2);
  const lines = readFileSync(from, 'utf8').trim().split('\n');
  writeFileSync(
    to,
    plot(
      lines.map((line) => JSON.parse(line)),
      titleOf(lines.length),
    ),
  );
}

export function titleOf(minutes: number): string {
  return `Memory of the service in a group of 768 MiB, ${minutes} minutes of requests that never repeat`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
