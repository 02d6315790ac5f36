import { loadBuiltIn } from '#src/stops/file.ts';
import { StopRegister } from '#src/stops/register.ts';
import type { StopRecord } from '#src/stops/table.ts';
import type { Mode } from '#src/transit/mode.ts';
import { isWithin } from '#src/transit/place.ts';
import { CANBERRA } from '#src/transit/region.ts';
import { createPicker } from './random.ts';

/*
 * Generates positions and search texts from the stop register: stations are more frequent than poles, dense areas more than
 * isolated stops.
 */

const WEIGHTS: Partial<Record<Mode, number>> = { train: 30, metro: 30, lightrail: 10, ferry: 10, bus: 1, coach: 0.2 };
/** The greatest distance of a phone from a stop. */
const MAX_METRES = 500;
const METRES_PER_DEGREE = 111_195;
/** One search in thirteen has a typing error. */
const TYPO = 1 / 13;
/** The numbers of letters after which a typed search is sent; the last request has the whole name. */
const SENT_AFTER = [3, 5, 8];

const register = new StopRegister(loadBuiltIn);
const stops = [...register];
const cellOf = ({ lat, lng }: StopRecord) => `${Math.floor(lat * 100)},${Math.floor(lng * 100)}`;
const inCell = Map.groupBy(stops, cellOf);
const weightOf = (stop: StopRecord) =>
  stop.modes.reduce((sum, mode) => sum + (WEIGHTS[mode] ?? 0), 0) * (inCell.get(cellOf(stop))?.length ?? 1);
const pick = createPicker(stops.map(weightOf));
const stopBy = (random: () => number) => stops[pick(random())] as StopRecord;
const PRODUCT_CLASSES: Partial<Record<Mode, number>> = { train: 1, metro: 2, lightrail: 4, bus: 5, coach: 7, ferry: 9 };
const wordsOf = (text: string) => text.toLowerCase().split(/[\s,]+/);
/** Stops by the prefixes of the words in their names. */
const byBeginning = Map.groupBy(
  stops.flatMap((stop) =>
    [...new Set(wordsOf(stop.name).map((word) => word.slice(0, 3)))].map((word) => ({ word, stop })),
  ),
  ({ word }) => word,
);
const MOST_MATCHES = 20;

/** Upstream's list around a position: groups of stops with their distance from it. */
export function locationsNear({
  lat,
  lng,
  radiusMetres,
}: {
  lat: number;
  lng: number;
  radiusMetres: number;
}): object[] {
  return register.near(lat, lng, radiusMetres).map(({ stop, distanceMetres }) => ({
    ...locationOf(stop),
    properties: {
      distance: Math.round(distanceMetres),
      STOP_GLOBAL_ID: stop.stop_id,
      STOP_NAME_WITH_PLACE: `${stop.name}, Sydney`,
    },
  }));
}

/** The ten nearest bus stops within 500 m, the default of nearby. */
export function stopsShownNear({ lat, lng }: { lat: number; lng: number }): string[] {
  const near = register.near(lat, lng, 500).filter(({ stop }) => stop.modes.includes('bus'));
  return near.slice(0, 10).map(({ stop }) => stop.stop_id);
}

/** Upstream's matches: stops whose name has, for each word of the text, a word with that prefix. Typing errors match nothing. */
export function locationsNamed(text: string): object[] {
  const words = wordsOf(text).filter((word) => word !== '');
  const candidates = byBeginning.get((words[0] ?? '').slice(0, 3)) ?? [];
  return candidates
    .filter(({ stop }) => words.every((word) => wordsOf(stop.name).some((other) => other.startsWith(word))))
    .slice(0, MOST_MATCHES)
    .map(({ stop }) => ({ ...locationOf(stop), name: `${stop.name}, Sydney`, matchQuality: 500 }));
}

function locationOf({ stop_id: id, name, lat, lng, modes }: StopRecord): object {
  return {
    id,
    isGlobalId: true,
    name: 'undefined, undefined',
    disassembledName: name,
    type: 'stop',
    coord: [lat, lng],
    parent: { name: 'Sydney', type: 'locality' },
    productClasses: modes.map((mode) => PRODUCT_CLASSES[mode]),
  };
}

const STRIDE = 4649;
/** Positions for the stops of a made-up network: all stops but those of Canberra, whose buses are in no timetable. */
const places = stops.filter(({ lat, lng }) => !isWithin(CANBERRA, lat, lng));
export function placeOfStop(stop: number): { lat: number; lng: number } {
  const { lat, lng } = places[(stop * STRIDE) % places.length] as StopRecord;
  return { lat, lng };
}

/** A position up to 500 m from a stop; repetitions are extremely rare. */
export function placeOfPhone(random: () => number, { lat, lng }: { lat: number; lng: number } = stopBy(random)) {
  const metres = MAX_METRES * Math.sqrt(random());
  const angle = 2 * Math.PI * random();
  const north = (metres * Math.cos(angle)) / METRES_PER_DEGREE;
  const east = (metres * Math.sin(angle)) / METRES_PER_DEGREE / Math.cos((lat * Math.PI) / 180);
  return { lat: Number((lat + north).toFixed(6)), lng: Number((lng + east).toFixed(6)) };
}

/** The queries that an app sends while a name is typed. */
export function typedQueries(random: () => number): string[] {
  const [name = ''] = stopBy(random).name.toLowerCase().split(', ');
  const typed = random() < TYPO ? withTypo(name, random) : name;
  return [...new Set([...SENT_AFTER.map((letters) => typed.slice(0, letters)), typed])];
}

/** The text with two letters swapped or one missing, never the first. */
function withTypo(text: string, random: () => number): string {
  const at = 1 + Math.floor(random() * Math.max(1, text.length - 2));
  const isExchanged = random() < 0.5;
  return (
    text.slice(0, at) +
    (isExchanged ? (text[at + 1] ?? '') + (text[at] ?? '') : '') +
    text.slice(at + (isExchanged ? 2 : 1))
  );
}
