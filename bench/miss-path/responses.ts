import { formatTimestamp } from '#src/transit/time.ts';
import { departureMonitorResponse, tripResponse } from '#test/contract/payloads.ts';

/** The number of records in upstream's responses, per page and per trip. */
const EVENTS = 40;
const JOURNEYS = 6;
/** The size of a point in a path, as JSON. */
const POINT_BYTES = 23;
const MINUTE_MS = 60_000;

const STOP_OF_BOARD = JSON.stringify(departureMonitorResponse.locations[0]?.id);

/** A board of about that many bytes of JSON, with every departure within the next hour; alerts fill it up. */
export function makeBoard(bytes: number, now: Date): string {
  const running = departureMonitorResponse.stopEvents.filter(({ isCancelled }) => !isCancelled);
  const bare = toBoard(running, 0, now);
  const alertBytes = EVENTS * JSON.stringify(running[0]?.infos?.[0]).length;
  return toBoard(running, Math.round((bytes - bare.length) / alertBytes), now);
}

function toBoard(events: readonly object[], alerts: number, now: Date): string {
  const [alert] = departureMonitorResponse.stopEvents[0]?.infos ?? [];
  const stopEvents = Array.from({ length: EVENTS }, (_, index) => ({
    ...events[index % events.length],
    departureTimePlanned: formatTimestamp(now.getTime() + (10 + index) * MINUTE_MS),
    departureTimeEstimated: formatTimestamp(now.getTime() + (10 + index) * MINUTE_MS),
    infos: Array(alerts).fill(alert),
  }));
  return JSON.stringify({ ...departureMonitorResponse, stopEvents });
}

/** A trip of about that many bytes of JSON; paths without repetition fill it up. */
export function makeTrip(bytes: number): string {
  const [journey] = tripResponse.journeys;
  if (!journey) throw new Error('there is no journey to copy');
  const bare = JSON.stringify({ ...tripResponse, journeys: Array(JOURNEYS).fill(journey) });
  const points = Math.round((bytes - bare.length) / (JOURNEYS * journey.legs.length * POINT_BYTES));
  const journeys = Array.from({ length: JOURNEYS }, () => ({
    ...journey,
    legs: journey.legs.map((leg) => ({ ...leg, coords: makePath(points) })),
  }));
  return JSON.stringify({ ...tripResponse, journeys });
}

/** The board, changed to the requested stop. */
export function boardFor(board: string, requestUrl: string): string {
  const stop = new URLSearchParams(requestUrl.split('?')[1]).get('name_dm');
  return board.replaceAll(STOP_OF_BOARD, JSON.stringify(stop));
}

/** A line without repetition, so that it compresses like a real one. */
export function makePath(points: number): [lat: number, lng: number][] {
  let [lat, lng] = [-33.86, 151.21];
  return Array.from({ length: points }, () => {
    lat += (Math.random() - 0.4) / 2000;
    lng += (Math.random() - 0.4) / 2000;
    return [Number(lat.toFixed(6)), Number(lng.toFixed(6))];
  });
}
