import { within } from '../../core/clock.ts';
import type { LocationsPayload } from '../../efa/payload.ts';
import type { UpstreamRequest } from '../../efa/request.ts';
import { mapRecords } from '../../efa/response/record.ts';
import { findLocality, findPosition, findStopName, readStopPoint, type StopPoint } from '../../efa/stop-point.ts';
import { ApiError } from '../../errors/api-error.ts';
import { upstreamTimeout } from '../../errors/messages.ts';
import { type NameSearch, nearness } from '../../stops/name-search.ts';
import { freshnessInPlaceOf, type StopRegister } from '../../stops/register.ts';
import type { StopRecord } from '../../stops/table.ts';
import { freshnessOf } from '../../transit/freshness.ts';
import { type LeftOutCounts, need } from '../../transit/left-out.ts';
import type { Position } from '../../transit/place.ts';
import type { FindContext, Finding } from '../operation.ts';
import { type StopSearchQuery, toStopSearchRequest } from './query.ts';

/** With fewer matches of the authority's, stops with similar names are added. */
const FEW = 3;
/** The stops known without asking stand in when the authority takes longer. */
const PATIENCE_MS = 3000;

const FROM_REGISTER = {
  text: 'The transport authority could not be asked: these are stops of the list that the service keeps.',
};
const NOT_IN_REGISTER = {
  text: 'The transport authority could not be asked, and the list of stops that the service keeps has no such name.',
};

const WITHOUT_SUBURB = { text: 'Stops with an empty suburb: it is not known yet.' };

/** The stops that are known without asking. */
export interface KnownStops {
  stops: StopRegister;
  names: NameSearch;
  /** Whether the sandbox rehearses a failure by that text, which nothing may hide. */
  isRehearsal?: (request: UpstreamRequest) => boolean;
}

/** Upstream's good matches lie within a few hundredths of each other. */
const NEARNESS_OF_MATCHES = 0.04;

/**
 * Returns what upstream found, each once, the best match first: upstream lists them in no useful order. `near` decides among good
 * matches; equal ones are sorted by `rankOf`, then by name.
 */
export async function rankMatches<Hit extends ReturnType<typeof nameAndPlace>>(
  { locations }: LocationsPayload,
  mapLocation: (location: StopPoint) => { match: number; hit: Hit },
  options: { near: Position | undefined; idOf: (hit: Hit) => string; rankOf?: (hit: Hit) => number },
): Promise<{ results: Hit[]; leftOut: LeftOutCounts }> {
  const { near, idOf, rankOf = () => 0 } = options;
  const { kept, leftOut } = await mapRecords(locations, readStopPoint, mapLocation);
  const ranked = kept.map(({ match, hit }) => {
    const { lat, lng } = hit;
    const isPlaced = near && lat !== null && lng !== null;
    return { hit, match: isPlaced ? match * nearness(near, [lat, lng], NEARNESS_OF_MATCHES) : match };
  });
  ranked.sort(
    (one, other) =>
      other.match - one.match ||
      rankOf(one.hit) - rankOf(other.hit) ||
      one.hit.name.localeCompare(other.hit.name, 'en') ||
      idOf(one.hit).localeCompare(idOf(other.hit), 'en'),
  );
  const byId = new Map<string, Hit>();
  for (const { hit } of ranked) if (!byId.has(idOf(hit))) byId.set(idOf(hit), hit);
  return { results: [...byId.values()], leftOut };
}

/** The fields of a hit that stops and other places have in common. */
export function nameAndPlace(location: StopPoint) {
  const position = findPosition(location);
  return {
    name: need(location.name?.trim() || findStopName(location), 'no name'),
    suburb: findLocality(location) ?? '',
    lat: position?.[0] ?? null,
    lng: position?.[1] ?? null,
  };
}

/** The authority's matches, then stops with similar names where it has few, or cannot be asked. */
export async function findByName<Hit extends { suburb: string }>(
  query: StopSearchQuery,
  { ask, now }: Pick<FindContext, 'ask' | 'now'>,
  {
    known: { stops, names, isRehearsal = () => false },
    read,
    idOf,
    toHit,
    areStops,
  }: {
    known: KnownStops;
    /** Returns what upstream found, the best match first, each once. */
    read: (payload: LocationsPayload) => Promise<{ results: Hit[]; leftOut: LeftOutCounts }>;
    idOf: (hit: Hit) => string;
    toHit: (stop: StopRecord) => Hit;
    /** Only stops are looked for: where calls are short, that the list of stops has none is a response too. */
    areStops: boolean;
  },
): Promise<Finding<{ query: string; results: Hit[] }>> {
  const { q, limit, near } = query;
  const request = toStopSearchRequest(query);
  const similar = (isLoose: boolean) => names.find({ text: q, limit, near, isLoose }, now());
  const noteMissing = (hits: readonly Hit[]) =>
    hits.some((hit) => hit.suburb === '' && stops.get(idOf(hit))) ? [WITHOUT_SUBURB] : [];
  const asked = ask(request);
  let response: Awaited<typeof asked>;
  try {
    response = await within(PATIENCE_MS, asked, () => upstreamTimeout(PATIENCE_MS));
  } catch (error) {
    const freshness = freshnessInPlaceOf(error, stops, now());
    const isRehearsed = isRehearsal(request);
    const found = isRehearsed ? [] : await similar(true);
    const isBudgetExhausted = error instanceof ApiError && error.isBudgetExhausted;
    if (found.length > 0 || (areStops && isBudgetExhausted && !isRehearsed)) {
      const results = found.map(toHit);
      const notice = found.length > 0 ? FROM_REGISTER : NOT_IN_REGISTER;
      return { body: { query: q, results }, freshness, notices: [notice, ...noteMissing(results)] };
    }
    response = await asked;
  }
  const { results, leftOut } = await read(response.payload);
  const shown = results.slice(0, limit);
  if (shown.length < Math.min(FEW, limit)) {
    const found = await similar(shown.length === 0);
    const others = found.map(toHit).filter((hit) => !shown.some((one) => idOf(one) === idOf(hit)));
    shown.push(...others.slice(0, limit - shown.length));
  }
  const notices = noteMissing(shown);
  return { body: { query: q, results: shown }, freshness: freshnessOf(response), leftOut, notices };
}
