import { Runs } from '#src/boards/runs.ts';
import { monitorBoards } from '#src/boards/source.ts';
import { parseDepartureMonitor, parseJourney, parseLeg, parseStopEvent, parseTrip } from '#src/efa/payload.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import type { JsonObject } from '#src/efa/response/field.ts';
import { parseJson } from '#src/efa/response/json-reader.ts';
import { createFinishedResponses } from '#src/operations/finished-response.ts';
import type { FindContext, OperationResult } from '#src/operations/operation.ts';
import { noLines } from '#src/operations/sources.ts';
import { ResponseCache } from '#src/upstream/response-cache.ts';
import { ids } from '#test/support/ids.ts';
import { cpuMsOf } from '../event-loop.ts';

/** Milliseconds of the main thread's processor time for one upstream response. */
export type StageTimes = Record<'parse' | 'validate' | 'map' | 'pack' | 'render', number>;

const MEGABYTE = 1024 * 1024;
/** Warm-up runs, for the compiler. */
const WARM_UPS = 30;
const TIMES = 240;
const now = () => Date.now();

/** The stages of one response in order. `find` is the operation with its query. */
export async function timeStages(
  bytes: Buffer,
  readPayload: (json: unknown) => object,
  find: (context: FindContext) => Promise<OperationResult>,
): Promise<StageTimes> {
  const cache = new ResponseCache({ maxBytes: 64 * MEGABYTE, now });
  const finished = createFinishedResponses({ maxBytes: 64 * MEGABYTE, now });
  const retrievedAt = now();

  const json = await parseJson(bytes);
  const payload = readPayload(json);
  const context: FindContext = {
    // A new list of events each time, because the events of a response are mapped only once.
    queryUpstream: (async () => ({ payload: withNewList(payload), retrievedAt })) as unknown as QueryUpstream,
    boards: monitorBoards,
    runs: new Runs({ now }),
    lines: noLines,
    now: () => retrievedAt,
    ids,
    run: () => Promise.reject(new Error('not needed')),
  };
  const finding = await find(context);

  const parse = await cpuOf(() => parseJson(bytes));
  const validate = await cpuOf(() => readPayload(json));
  // Mapping includes reading each record.
  const validateAndMap = await cpuOf(() => find(context));
  const pack = await cpuOf(() => cache.store('key', { payload, json: bytes, retrievedAt }));
  let kept = 0;
  // The ETag is computed for a body that is not cached yet.
  const render = await cpuOf(() => finished.store(String(kept++), finding));
  return { parse, validate, map: validateAndMap - validate, pack, render };
}

function withNewList(payload: object): object {
  return 'stopEvents' in payload ? { ...payload, stopEvents: [...(payload.stopEvents as unknown[])] } : payload;
}

async function cpuOf(work: () => unknown): Promise<number> {
  await cpuMsOf(WARM_UPS, work);
  return cpuMsOf(TIMES, work);
}

/** Reads every record of a board, as mapping does. */
export function readWholeBoard(json: unknown): object {
  const payload = parseDepartureMonitor(json as JsonObject);
  payload.stopEvents.forEach(parseStopEvent);
  return payload;
}

/** Reads every leg of a trip, as mapping does. */
export function readWholeTrip(json: unknown): object {
  const payload = parseTrip(json as JsonObject);
  for (const journey of payload.journeys) parseJourney(journey)?.legs.forEach(parseLeg);
  return payload;
}
