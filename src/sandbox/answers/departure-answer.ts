import type { Authority } from '../authority.ts';
import { nextDepartures } from '../timetable/departures.ts';
import { excludedClasses } from './exclusion.ts';
import { stopEvent } from './stop-event.ts';
import { dateInvalid, noServingLines, stopInvalid, VERSION } from './system-message.ts';
import { askedSeconds, isPublished } from './time.ts';
import { uniqueStop } from './unique-stop.ts';

const EVENTS_PER_ANSWER = 40;

/**
 * Answer of `departure_mon`: the next 40 departures of one stop, or of one platform with `nameKey_dm=$USEPOINT$`.
 * Without date and time these are the vehicles that are still to leave, late ones included.
 */
export function departureResponse(authority: Authority, query: URLSearchParams, nowSeconds: number): object {
  const { index, timetableAround } = authority;
  const name = query.get('name_dm') ?? '';
  const point = index.pointById.get(name);
  const home = index.stopById.get(name) ?? point?.home;
  if (home === undefined) return { version: VERSION, systemMessages: [], locations: [], stopEvents: [] };
  if (query.get('mode') !== 'direct') return { version: VERSION, systemMessages: [stopInvalid] };

  const withRealtime = query.get('TfNSWDM') === 'true';
  const atSeconds = askedSeconds(query, nowSeconds);
  const locations = [uniqueStop(home, withRealtime ? 'modes' : 'productClasses')];
  if (atSeconds === undefined || !isPublished(atSeconds, nowSeconds)) {
    return { version: VERSION, systemMessages: [dateInvalid], locations };
  }
  const excluded = excludedClasses(query);
  const departures = nextDepartures(timetableAround(atSeconds), {
    points: point !== undefined && query.get('nameKey_dm') === '$USEPOINT$' ? [point] : home.points,
    isWanted: (pattern) => !excluded.has(pattern.line.product.class),
    atSeconds,
    isForNow: !query.get('itdDate') && !query.get('itdTime'),
    nowSeconds: withRealtime ? nowSeconds : undefined,
    count: EVENTS_PER_ANSWER,
  });
  if (departures.length === 0) return { version: VERSION, systemMessages: [noServingLines], locations };
  return { version: VERSION, systemMessages: [], locations, stopEvents: departures.map(stopEvent) };
}
