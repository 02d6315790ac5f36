import { tripResponse } from '#test/contract/payloads.ts';
import { departureMonitor } from '#test/support/departure-monitor.ts';
import { makePath } from '../miss-path/responses.ts';

const LEAVES = Array.from({ length: 20 }, (_, index) => new Date(Date.now() + (60 + index) * 60_000).toISOString());
const JOURNEYS = 6;
/** Makes the service's response about 300 kB. */
const POINTS_OF_A_LEG = 800;

const board = JSON.stringify(departureMonitor(...LEAVES));
const trip = JSON.stringify({ ...tripResponse, journeys: Array.from({ length: JOURNEYS }, longJourney) });

/** Upstream's response to a request: a board of twenty departures, or journeys with long paths. */
export function responseOfUpstream(url: string | undefined): string {
  return url?.includes('/trip?') ? trip : board;
}

function longJourney() {
  const [journey] = tripResponse.journeys;
  if (!journey) throw new Error('there is no journey to copy');
  const legs = journey.legs.map((leg) => ({ ...leg, coords: makePath(POINTS_OF_A_LEG) }));
  return { ...journey, legs };
}
