import type { LocationsPayload } from '../efa/payload.ts';
import type { UpstreamRequest } from '../efa/request.ts';
import type { LeftOutCounts } from '../efa/response/record.ts';
import { ApiError } from '../errors/api-error.ts';
import { upstreamTimeout } from '../errors/messages.ts';
import type { FindContext, Finding } from '../operation.ts';
import type { NameSearch } from '../stops/name-search.ts';
import { freshnessInPlaceOf, type StopRegister } from '../stops/register.ts';
import type { StopRecord } from '../stops/table.ts';
import { within } from '../time-limit.ts';
import { freshnessOf } from '../transit/freshness.ts';
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

/** The stops that are known without asking. */
export interface KnownStops {
  stops: StopRegister;
  names: NameSearch;
  /** Whether the sandbox rehearses a failure by that text, which nothing may hide. */
  isRehearsal?: (request: UpstreamRequest) => boolean;
}

/** The authority's matches, then stops with similar names where it has few, or cannot be asked. */
export async function findByName<Hit extends object>(
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
    /** What upstream found, the best match first, each once. */
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
  const asked = ask(request);
  let response: Awaited<typeof asked>;
  try {
    response = await within(PATIENCE_MS, asked, () => upstreamTimeout(PATIENCE_MS));
  } catch (error) {
    const freshness = freshnessInPlaceOf(error, stops, now());
    const isRehearsed = isRehearsal(request);
    const found = isRehearsed ? [] : await similar(true);
    const isForWantOfCalls = error instanceof ApiError && error.isForWantOfCalls === true;
    if (found.length > 0 || (areStops && isForWantOfCalls && !isRehearsed)) {
      const notice = found.length > 0 ? FROM_REGISTER : NOT_IN_REGISTER;
      return { body: { query: q, results: found.map(toHit) }, freshness, notices: [notice] };
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
  return { body: { query: q, results: shown }, freshness: freshnessOf(response), leftOut };
}
