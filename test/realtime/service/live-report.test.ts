import { expect, it } from 'vitest';
import { createInstruments } from '#src/extensions/telemetry/instruments.ts';
import { createMetrics } from '#src/extensions/telemetry/metrics.ts';
import { type LiveReport, liveFeedsJson } from '#src/realtime/live-report.ts';
import { IDLE_UPSTREAM, readMetrics } from '#test/support/metrics.ts';

const NOW = new Date('2026-04-15T00:00:00Z');
const report: LiveReport = {
  mode: 'auto',
  isPolling: true,
  feeds: [
    {
      source: 'buses',
      problem: null,
      headerAt: NOW.getTime() - 12_400,
      tripCount: 4501,
      foundShare: 0.9,
      leftOut: {
        'impossible time': { count: 2, examples: ['1', '2'] },
        'trip not in the timetable': { count: 450, examples: ['3'] },
      },
    },
    { source: 'MFF', problem: 'an old header', headerAt: null, tripCount: null, foundShare: null, leftOut: {} },
  ],
  agreement: {
    bus: { compared: 200, agreed: 199, isTrusted: true },
    ferry: { compared: 12, agreed: 3, isTrusted: false },
  },
};

it('the status report gives the age of each feed, and what of it is not in the timetable or not understood', () => {
  expect(liveFeedsJson(report, NOW.getTime())).toEqual({
    polled_by: 'this_instance',
    feeds: {
      buses: {
        problem: null,
        age_seconds: 12,
        trips: 4501,
        found_share: 0.9,
        left_out: { 'trip not in the timetable': 450, 'impossible time': 2 },
      },
      MFF: { problem: 'an old header', age_seconds: null, trips: null, left_out: {} },
    },
  });
});

it('the metrics show which feeds are trusted, what is left out of them, and the result of comparisons', async () => {
  const metrics = createMetrics({
    source: 'real',
    instruments: createInstruments(),
    upstream: IDLE_UPSTREAM,
    live: () => report,
    storeState: async () => 'writable' as const,
  });
  const { values } = readMetrics(await metrics.metrics());
  expect(values.get('transit_feed_up{feed="buses"}')).toBe(1);
  expect(values.get('transit_feed_up{feed="MFF"}')).toBe(0);
  expect(values.get('transit_feed_age_seconds{feed="buses"}')).toBeGreaterThan(0);
  expect(values.has('transit_feed_age_seconds{feed="MFF"}')).toBe(false);
  expect(values.get('transit_feed_left_out{feed="buses",reason="impossible time"}')).toBe(2);
  expect(values.get('transit_timetable_agreement_ratio{mode="bus"}')).toBe(0.995);
  expect(values.has('transit_timetable_agreement_ratio{mode="ferry"}')).toBe(false);
});
