import { randomBytes } from 'node:crypto';
import { createTokenBuckets } from '#src/access/limits/token-buckets.ts';
import { requestKey, type UpstreamRequest } from '#src/efa/request.ts';
import { createQueryReader } from '#src/http/operation-routes.ts';
import { StopTimelines } from '#src/live/boards/stop-timelines.ts';
import { FeedDemandCounter } from '#src/live/polling/feed-demand.ts';
import { Verdicts } from '#src/nearby/verdict.ts';
import type { Operation } from '#src/operation.ts';
import { createFinishedResponses } from '#src/responses/finished-response.ts';
import { queryKey } from '#src/responses/responses.ts';
import { stopSearchOperation } from '#src/stop-search/operation.ts';
import { MODES } from '#src/transit/mode.ts';
import { FRESHNESS_WINDOWS } from '#src/upstream/freshness-window.ts';
import { Popularity } from '#src/upstream/request-memory.ts';
import { createResponseCache } from '#src/upstream/response-cache.ts';
import { noSharedStore } from '#src/upstream/shared-store.ts';
import { departure, pageOf } from '#test/support/departure.ts';
import { receivedResponse } from '#test/support/received-answer.ts';

/** A full table of the service. */
interface FilledTable {
  /** What it counts; for a table that is bounded by entries, what docs/operations.md says of it. */
  countedBytes: number;
  /** Keeps it in memory. */
  table: object;
}

const NOW = Date.parse('2026-04-15T00:00:00Z');
const MEGABYTE = 2 ** 20;
const now = () => NOW;
const SEARCH = stopSearchOperation as unknown as Operation;
const STOPS_OF_TIMELINES = 1000;
/** As long as any that callers may ask for, and each another one. */
const longText = (n: number) => `${'🚆'.repeat(84)}${String(n).padStart(8, '0')}`;
const longQuestion = (n: number): UpstreamRequest => ({ kind: 'stopFinder', text: longText(n) });
const longStop = (n: number) => `G${String(n).padStart(15, '0')}`;

/** Each table that callers can fill, filled by the longest input. The name is that of its line in docs/operations.md. */
export const HELD_MEMORY_CASES: Readonly<Record<string, () => Promise<FilledTable>>> = {
  async 'timelines of stops, compressed'() {
    const timelines = new StopTimelines(null, { maxOpenBytes: MEGABYTE });
    await addTimelines(timelines);
    return { countedBytes: timelines.size().bytes, table: timelines };
  },
  async 'timelines in use'() {
    const timelines = new StopTimelines(null, { maxPackedBytes: MEGABYTE });
    await addTimelines(timelines);
    return { countedBytes: timelines.size().bytes, table: timelines };
  },
  async 'answers of the authority, compressed'() {
    const cache = createResponseCache({ maxBytes: 8 * MEGABYTE, now, store: noSharedStore });
    for (let n = 0; n < 4000; n++) {
      const request = longQuestion(n);
      const response = receivedResponse(
        request,
        { locations: [{ id: randomBytes(150).toString('hex') }] },
        new Date(NOW),
      );
      await cache.keep(requestKey(request), FRESHNESS_WINDOWS.search, response);
    }
    return { countedBytes: cache.size().bytes, table: cache };
  },
  async 'finished answers'() {
    const responses = createFinishedResponses({ maxBytes: 16 * MEGABYTE, now });
    const freshness = {
      retrievedAt: NOW,
      freshUntil: NOW + 60_000,
      staleUntil: NOW + 120_000,
      source: 'upstream',
      shortage: null,
    } as const;
    for (let n = 0; n < 4000; n++) {
      const key = queryKey(SEARCH, { q: longText(n), limit: 10 });
      const body = { q: longText(n), retrieved_at: 'now', text: randomBytes(200).toString('hex') };
      const response = await responses.keep(key, 'low', { body, freshness });
      for (const encoding of ['zstd', 'br', 'gzip'] as const) await responses.bytesOf(response, encoding);
    }
    return { countedBytes: responses.size().bytes, table: responses };
  },
  async 'counts of questions, to tell popular ones'() {
    const popularity = new Popularity(now);
    for (let n = 0; n < 100_000; n++) popularity.note(requestKey(longQuestion(n)));
    return { countedBytes: 8 * MEGABYTE, table: popularity };
  },
  async 'counts of boards, to choose feeds'() {
    const demand = new FeedDemandCounter(now);
    for (let n = 0; n < 100_000; n++) demand.note(`${longStop(n)} ${MODES.join()}`, []);
    return { countedBytes: 8 * MEGABYTE, table: demand };
  },
  async 'verdicts on stops'() {
    const verdicts = new Verdicts(() => new Date(NOW));
    for (let n = 0; n < 50_000; n++) verdicts.learn(longStop(n), { isAlive: true, modes: MODES });
    return { countedBytes: 32 * MEGABYTE, table: verdicts };
  },
  async 'limits, of 50,000 accounts or networks'() {
    const buckets = createTokenBuckets({ perSecond: 1, burst: 10 }, () => new Date(NOW));
    for (let n = 0; n < 50_000; n++) buckets.take(`2001:0db8:85a3:08d3:${String(n).padStart(12, '0')}::/64`);
    return { countedBytes: 24 * MEGABYTE, table: buckets };
  },
  async 'queries as they were read, of an operation'() {
    const read = createQueryReader(SEARCH);
    for (let n = 0; n < 20_000; n++) {
      const q = longText(n);
      read({ url: `/v1/stops/search?q=${encodeURIComponent(q)}`, query: { q } });
    }
    return { countedBytes: 8 * MEGABYTE, table: read };
  },
};

async function addTimelines(timelines: StopTimelines): Promise<void> {
  for (let stop = 0; stop < STOPS_OF_TIMELINES; stop++) {
    const departures = Array.from({ length: 40 }, (_, minute) =>
      departure({ runId: randomBytes(8).toString('hex'), mode: 'train', plannedAt: NOW + minute * 60_000 }),
    );
    const page = pageOf(departures, { modes: ['train'], retrievedAt: NOW });
    await timelines.add(longStop(stop), 'Stop', [page]);
  }
}
