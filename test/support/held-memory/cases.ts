import { randomBytes } from 'node:crypto';
import { createAccountCounts } from '#src/access/account-counts.ts';
import { type ApiKey, generateKey, parseKey } from '#src/access/keys.ts';
import { KnownKeys } from '#src/access/known-keys.ts';
import { createTokenBuckets } from '#src/access/limits/token-buckets.ts';
import { PendingCounts } from '#src/access/pending-counts.ts';
import { mapAlerts } from '#src/efa/alerts.ts';
import { unexpectedResponse } from '#src/efa/failure.ts';
import { requestKey, type UpstreamRequest } from '#src/efa/request.ts';
import type { ApiError } from '#src/errors/api-error.ts';
import { createQueryReader } from '#src/http/operation-routes.ts';
import { createFinishedResponses } from '#src/operations/finished-response.ts';
import type { Operation } from '#src/operations/operation.ts';
import { queryKey } from '#src/operations/serve.ts';
import { createStopSearchOperation } from '#src/operations/stop-search/operation.ts';
import { NameSearch } from '#src/stops/name-search.ts';
import { StopRegister } from '#src/stops/register.ts';
import { StopChecks } from '#src/stops/served-stops.ts';
import { noStops } from '#src/stops/table.ts';
import { FailureMemory } from '#src/upstream/request-memory.ts';
import { ResponseCache } from '#src/upstream/response-cache.ts';
import { receivedResponse } from '#test/support/received-response.ts';
import { createThrottle } from '#web/signup/throttle.ts';

/** A full table of the service. */
export interface FilledTable {
  /** The bytes that it counts. For a table bounded by entries, the bytes that docs/operations.md gives. */
  countedBytes: number;
  /** Holds the table in memory. */
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
/** Texts as long as callers may send, all different. */
const longText = (n: number) => `${'🚆'.repeat(84)}${String(n).padStart(8, '0')}`;
const longQuestion = (n: number): UpstreamRequest => ({ kind: 'stopFinder', text: longText(n) });
const accountOf = (n: number) => String(n).padStart(8, '0');
const keyOf = (n: number) => parseKey(generateKey('live', accountOf(Math.abs(n)))) as ApiKey;

const COUNTED = { day: '20260415', count: 1, allowances: [] };

/** Each table that callers can fill, filled with the longest input. It has the name of its line in docs/operations.md. */
export const HELD_MEMORY_CASES: Readonly<Record<string, () => Promise<FilledTable>>> = {
  async 'upstream responses'() {
    const cache = new ResponseCache({ maxBytes: 8 * MEGABYTE, now });
    for (let n = 0; n < 4000; n++) {
      const request = longQuestion(n);
      const response = receivedResponse(
        request,
        { locations: [{ id: randomBytes(150).toString('hex') }] },
        new Date(NOW),
      );
      await cache.store(requestKey(request), response);
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
      const response = await responses.store(key, { body, freshness });
      for (const encoding of ['zstd', 'br', 'gzip'] as const) await responses.bytesOf(response, encoding);
    }
    return { countedBytes: responses.size().bytes, table: responses };
  },
  async 'token buckets'() {
    const buckets = createTokenBuckets(() => NOW);
    for (let n = 0; n < 50_000; n++)
      buckets.spend(`2001:0db8:85a3:08d3:${String(n).padStart(12, '0')}::/64`, { perSecond: 1, burst: 10 });
    return { countedBytes: 12 * MEGABYTE, table: buckets };
  },
  async 'read queries'() {
    const read = createQueryReader();
    for (let n = 0; n < 30_000; n++) {
      const q = longText(n);
      read(SEARCH, { url: `/v1/stops/search?q=${encodeURIComponent(q)}`, query: { q } });
    }
    return { countedBytes: 16 * MEGABYTE, table: read };
  },
  async failures() {
    const failures = new FailureMemory(now);
    for (let n = 0; n < 6000; n++) failures.record('stopFinder', requestKey(longQuestion(n)), failureOf(n));
    return { countedBytes: 10 * MEGABYTE, table: failures };
  },
  async 'texts of notices'() {
    // Each is part of a text many times as long.
    for (let n = 0; n < 1000; n++) {
      const content = `${n} ${'a '.repeat(50_000)}`;
      mapAlerts([
        { priority: 'high', subtitle: content, content, urlText: '', speechText: '', infoLinks: [] },
      ] as never);
    }
    return { countedBytes: 12 * MEGABYTE, table: mapAlerts };
  },
  async 'known keys'() {
    const keys = new KnownKeys({ now: () => NOW, instances: () => 1, log: { warn() {} } });
    for (let n = 0; n < 70_000; n++) {
      const email = `a@${'y'.repeat(60)}.${'z'.repeat(60)}.${String(n).padStart(60, 'd')}.${'e'.repeat(50)}.example`;
      const reply = { kind: 'exhausted', plan: 'free', email, used: 1000, usedBySender: 0 } as const;
      keys.store({ ...keyOf(n), accountId: accountOf(0) }, COUNTED, reply, true);
    }
    return { countedBytes: 38 * MEGABYTE, table: keys };
  },
  async 'counts of accounts'() {
    const counts = createAccountCounts();
    const keys = new KnownKeys({ now: () => NOW, instances: () => 1, log: { warn() {} }, counts });
    const pending = new PendingCounts({} as never, counts);
    const key = keyOf(0);
    const reply = { kind: 'exhausted', plan: 'free', used: 1000, usedBySender: 0 } as const;
    for (let n = 0; n < 70_000; n++) {
      pending.senderOf(accountOf(n), COUNTED.day);
      keys.store({ ...key, accountId: accountOf(n) }, COUNTED, reply, true);
    }
    return { countedBytes: 24 * MEGABYTE, table: [keys, pending] };
  },
  async 'requested mails'() {
    const limits = { perHour: 1e9, perNetwork: 1e9, perAddress: 1e9, perDomain: 1e9 };
    const throttle = createThrottle(limits, () => NOW);
    for (let n = 0; n < 40_000; n++) {
      const number = n.toString(16).padStart(8, '0');
      const ip = `2001:${number.slice(0, 4)}:${number.slice(4)}:85a3::`;
      throttle.consume(ip, `${'x'.repeat(64)}@${'y'.repeat(60)}.${'z'.repeat(60)}.${number}${'d'.repeat(50)}.example`);
    }
    return { countedBytes: 15 * MEGABYTE, table: throttle };
  },
  async 'checked stops'() {
    const checks = new StopChecks();
    const board = { payload: { stopEvents: [{}] }, retrievedAt: NOW };
    const queryUpstream = (async () => board) as never;
    for (let n = 0; n < 25_000; n++) {
      const stop = { stop_id: `${n}`.padStart(12, '0'), modes: [] } as never;
      const wanted = { modes: ['bus'], limit: 1 } as const;
      await checks.listServed([stop], wanted, { queryUpstream, mayCall: true, now: NOW });
    }
    return { countedBytes: 9 * MEGABYTE, table: checks };
  },
};

/** The error of an unreadable response; the function that created it holds the response. */
function failureOf(n: number): ApiError {
  const response = Buffer.alloc(100_000);
  const fail = () => unexpectedResponse(`${longText(n)} is no response of ${response.length} bytes`);
  return fail();
}
