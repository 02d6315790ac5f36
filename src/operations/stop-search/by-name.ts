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
import type { StopRecord } from '../../stops/table.ts';
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

/** Returns the trip planner's matches, followed by stops with similar names if it has few matches or is unavailable. */
export async function searchByName<Hit extends { suburb: string }>(
  query: StopSearchQuery,
  { queryUpstream, now }: FindContext,
  {
    known: { stops, names, isRehearsal = () => false },
    types,
    fromMatch,
    fromKnown,
    idOf,
  }: {
    known: KnownStops;
    /** If only stops are wanted and the call budget is exhausted, an empty result from the register is a valid response. */
    types: readonly PlaceType[];
    fromMatch: (match: PlaceMatch) => Hit;
    fromKnown: (stop: StopRecord) => Hit;
    idOf: (hit: Hit) => string;
  },
): Promise<OperationResult<{ query: string; results: Hit[] }>> {
  const { q, limit, near } = query;
  const request = toStopSearchRequest(query);
  const searchSimilar = (isLoose: boolean) => names.search({ text: q, limit, near, isLoose }, now());
  const missingNotices = (hits: readonly Hit[]) =>
    hits.some((hit) => hit.suburb === '' && stops.get(idOf(hit))) ? [WITHOUT_SUBURB] : [];
  const pending = queryUpstream(request);
  let response: Awaited<typeof pending>;
  try {
    response = await within(REGISTER_FALLBACK_MS, pending, () => upstreamTimeout(REGISTER_FALLBACK_MS));
  } catch (error) {
    const freshness = freshnessInPlaceOf(error, stops, now());
    const isRehearsed = isRehearsal(request);
    const matches = isRehearsed ? [] : await searchSimilar(true);
    const isBudgetExhausted = error instanceof ApiError && error.isBudgetExhausted;
    if (matches.length > 0 || (areOnlyStops(types) && isBudgetExhausted && !isRehearsed)) {
      const results = matches.map(fromKnown);
      const notice = matches.length > 0 ? STORED_STOPS_NOTICE : NO_STORED_STOP_NOTICE;
      return { body: { query: q, results }, freshness, notices: [notice, ...missingNotices(results)] };
    }
    response = await pending;
  }
  const { results, leftOut } = await rankMatches(response.payload, types, near);
  const shownHits = results.slice(0, limit).map((match) => fromMatch(atOwnPosition(match, stops)));
  if (shownHits.length < Math.min(FEW_MATCHES, limit)) {
    const matches = await searchSimilar(shownHits.length === 0);
    const moreHits = matches
      .map(fromKnown)
      .filter((hit) => !shownHits.some((shownHit) => idOf(shownHit) === idOf(hit)));
    shownHits.push(...moreHits.slice(0, limit - shownHits.length));
  }
  const notices = missingNotices(shownHits);
  return { body: { query: q, results: shownHits }, freshness: freshnessOf(response), leftOut, notices };
}

/** A stop has the position that other operations give it. */
function atOwnPosition(match: PlaceMatch, stops: StopLookup): PlaceMatch {
  const stop = match.type === 'stop' ? stops.get(match.id) : null;
  return stop ? { ...match, lat: stop.lat, lng: stop.lng } : match;
}
