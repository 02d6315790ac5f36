import { randomBytes } from 'node:crypto';
import { readKey } from '#src/access/credential.ts';
import { type ApiKey, generateKey, parseKey } from '#src/access/keys.ts';
import { KnownKeys } from '#src/access/known-keys.ts';
import { createTokenBuckets } from '#src/access/limits/token-buckets.ts';
import { PendingCounts } from '#src/access/pending-counts.ts';
import { createQuotaMails } from '#src/beside/signup/quota-mails.ts';
import { createThrottle } from '#src/beside/signup/throttle.ts';
import { mapAlerts } from '#src/efa/alerts.ts';
import { nonsense } from '#src/efa/failure.ts';
import { requestKey, type UpstreamRequest } from '#src/efa/request.ts';
import type { ApiError } from '#src/errors/api-error.ts';
import { createQueryReader } from '#src/http/operation-routes.ts';
import { createFinishedResponses } from '#src/operations/finished-response.ts';
import type { Operation } from '#src/operations/operation.ts';
import { queryKey } from '#src/operations/serve.ts';
import { createStopSearchOperation } from '#src/operations/stop-search/operation.ts';
import { NameSearch } from '#src/stops/name-search.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import { Breaker } from '#src/upstream/breaker.ts';
import { CallQueue, type Waiting } from '#src/upstream/budget/call-queue.ts';
import { FailureMemory } from '#src/upstream/request-memory.ts';
import { ResponseCache } from '#src/upstream/response-cache.ts';
import { receivedResponse } from '#test/support/received-response.ts';

/** A full table of the service. */
export interface FilledTable {
  /** The bytes that it counts; for a table that is bounded by entries, those that bench/README.md names. */
  countedBytes: number;
  /** Keeps it in memory. */
  table: object;
}

const NOW = Date.parse('2026-04-15T00:00:00Z');
const MEGABYTE = 2 ** 20;
const now = () => NOW;
const stops = new StopRegister(noStops);
const SEARCH = createStopSearchOperation({
  stops,
  names: new NameSearch(stops),
}) as unknown as Operation;
/** Texts as long as any that callers may send, all different. */
const longText = (n: number) => `${'🚆'.repeat(84)}${String(n).padStart(8, '0')}`;
const longQuestion = (n: number): UpstreamRequest => ({ kind: 'stopFinder', text: longText(n) });
const accountOf = (n: number) => String(n).padStart(8, '0');
const keyOf = (n: number) => parseKey(generateKey('live', accountOf(Math.abs(n)))) as ApiKey;

/** Each table that callers can fill, filled by the longest input. The name is that of its line in bench/README.md. */
export const HELD_MEMORY_CASES: Readonly<Record<string, () => Promise<FilledTable>>> = {
  async 'upstream responses, compressed'() {
    const cache = new ResponseCache({ maxBytes: 8 * MEGABYTE, now });
    for (let n = 0; n < 4000; n++) {
      const request = longQuestion(n);
      const response = receivedResponse(
        request,
        { locations: [{ id: randomBytes(150).toString('hex') }] },
        new Date(NOW),
      );
      await cache.keep(requestKey(request), response);
    }
    return { countedBytes: cache.size().bytes, table: cache };
  },
  async 'finished responses'() {
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
      const response = await responses.keep(key, { body, freshness });
      for (const encoding of ['zstd', 'br', 'gzip'] as const) await responses.bytesOf(response, encoding);
    }
    return { countedBytes: responses.size().bytes, table: responses };
  },
  async 'limits, of 50,000 accounts or networks'() {
    const buckets = createTokenBuckets(() => new Date(NOW));
    for (let n = 0; n < 50_000; n++)
      buckets.take(`2001:0db8:85a3:08d3:${String(n).padStart(12, '0')}::/64`, { perSecond: 1, burst: 10 });
    return { countedBytes: 12 * MEGABYTE, table: buckets };
  },
  async 'queries as they were read, of an operation'() {
    const read = createQueryReader(SEARCH);
    for (let n = 0; n < 20_000; n++) {
      const q = longText(n);
      read({ url: `/v1/stops/search?q=${encodeURIComponent(q)}`, query: { q } });
    }
    return { countedBytes: 8 * MEGABYTE, table: read };
  },
  async 'failures of requests'() {
    const failures = new FailureMemory(now);
    for (let n = 0; n < 4000; n++) failures.note('stopFinder', requestKey(longQuestion(n)), failureOf(n));
    return { countedBytes: 5 * MEGABYTE, table: failures };
  },
  async 'notices as plain text'() {
    // Each is a part of a text that is many times as long.
    for (let n = 0; n < 1000; n++) {
      const content = `${n} ${'a '.repeat(50_000)}`;
      mapAlerts([
        { priority: 'high', subtitle: content, content, urlText: '', speechText: '', infoLinks: [] },
      ] as never);
    }
    return { countedBytes: 12 * MEGABYTE, table: mapAlerts };
  },
  async 'accounts: last turn, hold by the breaker'() {
    const queue = new CallQueue();
    const breaker = new Breaker(now);
    for (let n = 0; n < 20_000; n++) {
      const account = accountOf(n);
      queue.serve({ ticket: { priority: 'low', accounts: [new Set([account])] } } as unknown as Waiting);
      breaker.permit({ request: longText(n), askers: [`departureMonitor ${account}`] }).failed('unclear');
    }
    return { countedBytes: 6 * MEGABYTE, table: [queue, breaker] };
  },
  async 'headers with keys as they were read'() {
    for (let n = 0; n < 25_000; n++) {
      const authorization = `Bearer ${' '.repeat(190)}${generateKey('live', accountOf(n))}`;
      readKey({ headers: { authorization }, url: '', query: {} });
    }
    return { countedBytes: 12 * MEGABYTE, table: readKey };
  },
  async 'keys: known ones, unknown ones; accounts: counts, spent ones'() {
    const local = new KnownKeys({ now: () => new Date(NOW), instances: () => 1, log: { warn() {} } });
    for (let n = 0; n < 60_000; n++) {
      const email = `a@${'y'.repeat(60)}.${'z'.repeat(60)}.${String(n).padStart(60, 'd')}.${'e'.repeat(50)}.example`;
      local.learn(
        keyOf(n),
        { day: '2026-04-15', count: 1, allowances: [] },
        { kind: 'exhausted', plan: 'free', email, used: 1000, usedBySender: 0 },
        true,
      );
      local.learn(keyOf(-n), { day: '2026-04-15', count: 1, allowances: [] }, { kind: 'unknown' }, true);
    }
    return { countedBytes: 48 * MEGABYTE, table: local };
  },
  async 'counts that the store has confirmed'() {
    const pending = new PendingCounts({ update: async () => 0 } as never);
    for (let n = 0; n < 120_000; n++) pending.senderOf(accountOf(n), '2026-04-15');
    return { countedBytes: 27 * MEGABYTE, table: pending };
  },
  async 'mails requested'() {
    const limits = { perHour: 1e9, perNetwork: 1e9, perAddress: 1e9, perDomain: 1e9 };
    const throttle = createThrottle(limits, () => new Date(NOW));
    for (let n = 0; n < 40_000; n++) {
      const number = n.toString(16).padStart(8, '0');
      const ip = `2001:${number.slice(0, 4)}:${number.slice(4)}:85a3::`;
      throttle.consume(ip, `${'x'.repeat(64)}@${'y'.repeat(60)}.${'z'.repeat(60)}.${number}${'d'.repeat(50)}.example`);
    }
    return { countedBytes: 15 * MEGABYTE, table: throttle };
  },
  async 'mails about quotas'() {
    const mails = createQuotaMails({
      accounts: { findAccount: async () => null, claimQuotaMail: async () => false },
      log: { warn() {} },
    } as unknown as Parameters<typeof createQuotaMails>[0]);
    for (let n = 0; n < 25_000; n++) {
      const { accountId } = keyOf(n);
      mails.note({
        kind: 'admitted',
        caller: { accountId, plan: 'free' },
        day: '2026-04-15',
        count: 1,
        used: 1000,
      } as never);
    }
    return { countedBytes: 5 * MEGABYTE, table: mails };
  },
};

/** The error of a response that could not be read; the function that made it holds the response. */
function failureOf(n: number): ApiError {
  const response = Buffer.alloc(100_000);
  const fail = () => nonsense(`${longText(n)} is no response of ${response.length} bytes`);
  return fail();
}
