import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import { indexNetwork } from '#sandbox/network/network-index.ts';
import type { JourneyQuery } from '#src/journeys/source.ts';
import { timetableJourneys } from '#src/journeys/timetable.ts';
import type { Timetable } from '#src/timetable/timetable.ts';
import { MODES } from '#src/transit/mode.ts';
import { buildTestApp } from '../support/app.ts';
import { createInlineEngine } from '../support/inline-engine.ts';
import { noUpstream } from '../support/no-upstream.ts';
import { importSandbox } from '../support/sandbox-timetable.ts';
import { currentOf } from '../support/timetable.ts';

/** A Thursday, 11:00 in Sydney. */
const NOW = Date.parse('2026-11-26T00:00:00Z');
const DEADLINE = 2 * NOW;

let timetable: Timetable;
beforeAll(async () => {
  timetable = await importSandbox(indexNetwork(loadNetwork()), NOW);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** The timetable as a source of journeys. After `endAfter(n)`, searches look at the time `n` times before their deadline. */
function open() {
  const engine = createInlineEngine(timetable);
  const options = { timetable: currentOf(timetable), engines: engine, feeds: null, now: () => NOW };
  let left = Number.POSITIVE_INFINITY;
  return {
    source: timetableJourneys(options),
    endAfter(checks: number): void {
      left = checks;
      engine.endAt(DEADLINE);
      vi.spyOn(Date, 'now').mockImplementation(() => (--left < 0 ? DEADLINE : NOW));
    },
  };
}

const usual = {
  from: '200060',
  to: '200020',
  at: { date: '20261127', time: '0830' },
  isArrival: false,
  modes: MODES,
  isAccessible: false,
  cancelled: 'exclude' as const,
};

describe('a search that reaches its deadline', () => {
  it.each<[string, Partial<JourneyQuery>]>([
    ['by departure', {}],
    ['by arrival', { isArrival: true }],
    ['with fewer changes', { choices: { prefer: 'fewer_changes' } }],
    ['with less walking', { choices: { prefer: 'less_walking' } }],
    ['with a stop on the way', { via: [{ stopId: '200080', stayMinutes: 5 }], limit: 4 }],
  ])('a search %s has the journeys found until its deadline, and fails without any', async (_, more) => {
    const { source, endAfter } = open();
    const whole = await source.fetch({ ...usual, ...more });
    expect(whole).toMatchObject({ isPartial: false, freshness: { freshUntil: NOW + 60_000 } });
    const outcomes = new Set<string>();
    for (let checks = 0; !outcomes.has('whole'); checks++) {
      endAfter(checks);
      const found = await source.fetch({ ...usual, ...more }).catch(({ message }) => message as string);
      vi.restoreAllMocks();
      if (typeof found === 'string') {
        expect(found).toBe('the journey search took too long');
        outcomes.add('failed');
      } else if (found.isPartial) {
        expect(found.journeys.length).toBeGreaterThan(0);
        expect(found.freshness).toMatchObject({ freshUntil: NOW, staleUntil: NOW });
        outcomes.add('partial');
      } else {
        expect(found.journeys.map(({ legs }) => legs.map(({ runId }) => runId))).toEqual(
          whole.journeys.map(({ legs }) => legs.map(({ runId }) => runId)),
        );
        outcomes.add('whole');
      }
    }
    expect([...outcomes]).toEqual(['failed', 'partial', 'whole']);
  });

  it.each([
    ['', ''],
    ['with a stop on the way ', '&via=200080@5'],
  ])(
    'a partial answer %shas a notice that says so and no further pages, and the next request is searched again',
    async (_, more) => {
      const { source, endAfter } = open();
      const app = await buildTestApp({ now: '2026-11-26T00:00:00Z', upstream: noUpstream, journeys: source as never });
      const url = `/v1/trips?from=200060&to=200020&time=0830&date=20261127&path=none${more}`;
      const first = await (async () => {
        for (let checks = 1; ; checks++) {
          endAfter(checks);
          const response = await app.inject(url);
          vi.restoreAllMocks();
          if (response.statusCode === 200) return response;
        }
      })();
      expect(first.headers['x-notice']).toContain('ended early');
      expect(String(first.headers.link)).not.toContain('rel="next"');
      expect(first.headers['cache-control']).toContain('max-age=0');
      const second = await app.inject(url);
      expect(String(second.headers['x-notice'])).not.toContain('ended early');
      expect(second.headers.link).toContain('rel="next"');
      expect(second.json().journeys.length).toBeGreaterThanOrEqual(first.json().journeys.length);
      await app.close();
    },
  );
});
