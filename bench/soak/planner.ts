import { randomUUID } from 'node:crypto';
import { earliestMoment } from '#src/transit/time.ts';
import { departureMonitorFor } from '#test/support/departure-monitor.ts';
import { listPairs } from '#test/support/pairs.ts';

const TRIP = template('trips', 'live-per-leg', 'trip');
const COORD = template('nearby', 'ordered-by-distance-then-id', 'coord');
const STOP_FINDER = template('stop-search', 'stops-out-of-a-mixed-list', 'stop_finder');
const MINUTE_MS = 60_000;
const BOARD_SIZE = 40;
/** Random destinations, because equal ones would be packed into nothing. */
const RANDOM_NAMES = 4;
/** How many groups of five stops there are around all places: one stop a second is checked in the background. */
const STOPS_AROUND = 200;

/** The trip planner's response to a request, by path and query. It knows every stop, and no way between positions. */
export function answerTo(url: string, now: number): string {
  const [path = '', parameters = ''] = url.split('?');
  const endpoint = path.slice(path.lastIndexOf('/') + 1);
  const query = new URLSearchParams(parameters);
  if (endpoint === 'departure_mon') {
    const [date, time] = [query.get('itdDate'), query.get('itdTime')];
    const from = date && time ? earliestMoment({ date, time }) : now;
    const leaves = Array.from({ length: BOARD_SIZE }, (_, index) => toText(from + (2 + 3 * index) * MINUTE_MS));
    const destination = () => Array.from({ length: RANDOM_NAMES }, () => randomUUID()).join(' ');
    const board = departureMonitorFor(url, ...leaves).replaceAll('Bondi Junction', destination);
    return query.get('depArrMacro') === 'arr' ? board.replaceAll('departureTimePlanned', 'arrivalTimePlanned') : board;
  }
  if (endpoint === 'coord') {
    const around = [...query.toString()].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % STOPS_AROUND, 7);
    return COORD.text.replaceAll(/200([1-5])00/g, (_, number) => String(210_000 + 10 * around + Number(number)));
  }
  if (endpoint === 'stop_finder') return STOP_FINDER.text;
  // It is asked for journeys between positions only where the timetable has none.
  if (query.has('type_origin', 'coord')) return JSON.stringify({ version: '10.2.1.42', journeys: [] });
  return TRIP.text
    .replaceAll('"200070"', `"${query.get('name_origin')}"`)
    .replaceAll('"209573"', `"${query.get('name_destination')}"`)
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, (moment) => toText(Date.parse(moment) - TRIP.now + now));
}

function toText(moment: number): string {
  return `${new Date(moment).toISOString().slice(0, 19)}Z`;
}

/** Upstream's part of a fixture, as text. */
function template(operation: string, name: string, endpoint: string): { text: string; now: number } {
  const pair = listPairs(operation).find((other) => other.name === name);
  if (!pair) throw new Error(`there is no fixture ${operation}/${name}`);
  return { text: JSON.stringify(pair.upstream[endpoint]), now: Date.parse(pair.now) };
}
