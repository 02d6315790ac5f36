import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { loadBuiltIn } from '#src/stops/file.ts';

type Point = readonly [lat: number, lng: number];

const { land, channels, causeways }: { land: Point[][]; channels: Point[][]; causeways: Point[][] } = JSON.parse(
  readFileSync('web/assets/base-map.json', 'utf8'),
);
const METRES_PER_DEGREE = 111_320;
/** Half the widths with which the explorer draws them. */
const [CHANNEL_METRES, CAUSEWAY_METRES] = [60, 30];
const ROUNDED_METRES = 15;
const FAR_METRES = 300;

/** The pieces of the shore by hundredths of a degree of latitude. */
const pieces = new Map<number, [Point, Point][]>();
const bandOf = (lat: number) => Math.floor(lat * 100);
for (const ring of land)
  for (let index = 1; index < ring.length; index++) {
    const [from, to] = [ring[index - 1] as Point, ring[index] as Point];
    for (let band = bandOf(Math.min(from[0], to[0])); band <= bandOf(Math.max(from[0], to[0])); band++)
      pieces.set(band, [...(pieces.get(band) ?? []), [from, to]]);
  }

/** Whether a point is inside an odd number of rings; lakes are rings too. */
function isOnLand([lat, lng]: Point): boolean {
  const crossed = (pieces.get(bandOf(lat)) ?? []).filter(
    ([[fromLat, fromLng], [toLat, toLng]]) =>
      fromLat > lat !== toLat > lat && lng < ((fromLng - toLng) * (lat - toLat)) / (fromLat - toLat) + toLng,
  );
  return crossed.length % 2 === 1;
}

/** How many metres a point is from the nearest of these lines. */
function metresTo(lines: Point[][], [lat, lng]: Point): number {
  const narrower = Math.cos((lat * Math.PI) / 180);
  let least = Number.POSITIVE_INFINITY;
  for (const line of lines)
    for (let index = 1; index < line.length; index++) {
      const [[y, x], [toY, toX]] = [line[index - 1], line[index]].map((point) => {
        const [pointLat, pointLng] = point as Point;
        return [pointLat - lat, (pointLng - lng) * narrower];
      }) as [[number, number], [number, number]];
      const length = (toX - x) ** 2 + (toY - y) ** 2;
      const share = length === 0 ? 0 : Math.min(1, Math.max(0, -(x * (toX - x) + y * (toY - y)) / length));
      least = Math.min(least, Math.hypot(x + share * (toX - x), y + share * (toY - y)));
    }
  return least * METRES_PER_DEGREE;
}

const stops = [...loadBuiltIn()];

it('the explorer’s map draws every stop near the shore on land', () => {
  const wet = stops
    .filter(({ modes }) => !modes.includes('ferry'))
    .filter(({ lat, lng }) => !isOnLand([lat, lng]) && metresTo(causeways, [lat, lng]) > CAUSEWAY_METRES)
    .map((stop) => ({ ...stop, metres: metresTo(land, [stop.lat, stop.lng]) }))
    // Nearer is rounding, and farther out are islands that the map leaves out.
    .filter(({ metres }) => metres > ROUNDED_METRES && metres < FAR_METRES);
  expect(wet.map(({ name }) => name)).toEqual([]);
});

it('the explorer’s map draws every wharf at the water', () => {
  const dry = stops
    .filter(({ modes }) => modes.includes('ferry'))
    .filter(({ lat, lng }) => isOnLand([lat, lng]) && metresTo(land, [lat, lng]) > CHANNEL_METRES)
    .filter(({ lat, lng }) => metresTo(channels, [lat, lng]) > CHANNEL_METRES);
  expect(dry.map(({ name }) => name)).toEqual([]);
});
