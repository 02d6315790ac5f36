import type { Authority } from '../authority.ts';
import { nextDepartures } from '../timetable/departures.ts';
import { excludedClasses } from './exclusion.ts';
import { stopEvents } from './stop-event.ts';
import { dateInvalid, noServingLines, stopInvalid, VERSION } from './system-message.ts';
import { askedSeconds, isPublished } from './time.ts';
import { uniqueStop } from './unique-stop.ts';

const EVENTS_PER_ANSWER = 40;

/** Answer of `departure_mon`: the next 40 departures of one stop, or of one platform with `nameKey_dm=$USEPOINT$`. */
export function departureAnswer(
  { index, timetableAround }: Authority,
  query: URLSearchParams,
  nowSeconds: number,
): object {
  const name = query.get('name_dm') ?? '';
  const point = index.pointById.get(name);
  const home = index.stopById.get(name) ?? point?.home;
  if (home === undefined || query.get('mode') !== 'direct') return { version: VERSION, systemMessages: [stopInvalid] };

  const withRealtime = query.get('TfNSWDM') === 'true';
  const atSeconds = askedSeconds(query, nowSeconds);
  const locations = [uniqueStop(home, withRealtime ? 'modes' : 'productClasses')];
  if (atSeconds === undefined || !isPublished(atSeconds, nowSeconds)) {
    return { version: VERSION, systemMessages: [dateInvalid], locations };
  }
  const points = point !== undefined && query.get('nameKey_dm') === '$USEPOINT$' ? [point] : home.points;
  const excluded = excludedClasses(query);
  const departures = nextDepartures(
    timetableAround(atSeconds),
    points,
    (pattern) => !excluded.has(pattern.line.product.class),
    atSeconds,
    EVENTS_PER_ANSWER,
  );
  if (departures.length === 0) return { version: VERSION, systemMessages: [noServingLines], locations };

  const events = departures.flatMap((departure) => stopEvents(departure, withRealtime ? nowSeconds : undefined));
  return { version: VERSION, systemMessages: [], locations, stopEvents: events.slice(0, EVENTS_PER_ANSWER) };
}
