import { within } from '../../core/clock.ts';
import { ApiError } from '../../errors/api-error.ts';
import { upstreamTimeout } from '../../errors/messages.ts';
import { areOnlyStops, type PlaceMatch, type PlaceType, rankMatches } from '../../stops/matches.ts';
import type { NameSearch } from '../../stops/name-search.ts';
import {
  freshnessInPlaceOf,
  NO_STORED_STOP_NOTICE,
  STORED_STOPS_NOTICE,
  type StopLookup,
  type StopRegister,
} from '../../stops/register.ts';
import { nameWithSuburb, type StopRecord } from '../../stops/table.ts';
import { freshnessOf } from '../../transit/freshness.ts';
import type { FindContext, IsRehearsal, OperationResult } from '../operation.ts';
import { type StopSearchQuery, toStopSearchRequest } from './query.ts';

/** If the trip planner has fewer matches, stops with similar names are added. */
const FEW_MATCHES = 3;
/** If the trip planner takes longer, the register supplies the stops. */
const REGISTER_FALLBACK_MS = 3000;

const WITHOUT_SUBURB = { text: 'Some suburbs are empty because they are not known yet.' };

/** The stops that are known without an upstream call. */
export interface KnownStops {
  stops: StopRegister;
  names: NameSearch;
  isRehearsal?: IsRehearsal;
}

/**
 * Returns the trip planner's matches of these types; if there are few, stops with similar names follow. While the trip planner is
 * unavailable, returns only stops with similar names. An empty result is then valid only if the call budget is exhausted and only
 * stops are wanted.
 */
export async function searchByName(
  query: StopSearchQuery,
  { queryUpstream, now }: FindContext,
  { stops, names, isRehearsal = () => false }: KnownStops,
  types: readonly PlaceType[],
): Promise<OperationResult<{ query: string; results: PlaceMatch[] }>> {
  const { q, limit, near } = query;
  const request = toStopSearchRequest(query);
  const searchSimilar = async (isLoose: boolean) =>
    (await names.search({ text: q, limit, near, isLoose }, now())).map(toMatch);
  const missingNotices = (places: readonly PlaceMatch[]) =>
    places.some(({ suburb, id }) => suburb === '' && stops.get(id)) ? [WITHOUT_SUBURB] : [];
  const pending = queryUpstream(request);
  let response: Awaited<typeof pending>;
  try {
    response = await within(REGISTER_FALLBACK_MS, pending, () => upstreamTimeout(REGISTER_FALLBACK_MS));
  } catch (error) {
    const freshness = freshnessInPlaceOf(error, stops, now());
    const isRehearsed = isRehearsal(request);
    const results = isRehearsed ? [] : await searchSimilar(true);
    const isBudgetExhausted = error instanceof ApiError && error.isBudgetExhausted;
    if (results.length > 0 || (areOnlyStops(types) && isBudgetExhausted && !isRehearsed)) {
      const notice = results.length > 0 ? STORED_STOPS_NOTICE : NO_STORED_STOP_NOTICE;
      return { body: { query: q, results }, freshness, notices: [notice, ...missingNotices(results)] };
    }
    response = await pending;
  }
  const { results, leftOut } = await rankMatches(response.payload, types, near);
  const shown = results.slice(0, limit).map((match) => withKnown(match, stops, areOnlyStops(types)));
  if (shown.length < Math.min(FEW_MATCHES, limit)) {
    const similar = await searchSimilar(shown.length === 0);
    const more = similar.filter(({ id }) => !shown.some((place) => place.id === id));
    shown.push(...more.slice(0, limit - shown.length));
  }
  return {
    body: { query: q, results: shown },
    freshness: freshnessOf(response),
    leftOut,
    notices: missingNotices(shown),
  };
}

/** A stop has the position that other operations give it and, if `isCompleted`, the suburb and modes that upstream leaves out. */
function withKnown(match: PlaceMatch, stops: StopLookup, isCompleted: boolean): PlaceMatch {
  const stop = match.type === 'stop' ? stops.get(match.id) : null;
  if (!stop) return match;
  const placed = { ...match, lat: stop.lat, lng: stop.lng };
  if (!isCompleted) return placed;
  return {
    ...placed,
    suburb: match.suburb || stop.suburb,
    modes: match.modes.length > 0 ? match.modes : [...stop.modes],
  };
}

function toMatch(stop: StopRecord): PlaceMatch {
  const { stop_id, suburb, lat, lng, modes } = stop;
  return { id: stop_id, type: 'stop', name: nameWithSuburb(stop), suburb, lat, lng, modes: [...modes] };
}
