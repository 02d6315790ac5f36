import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shorten } from '#src/extensions/mcp/tool-body.ts';

const departure = (alerts: string[]) => ({ route: 'T4', destination: 'Bondi Junction', minutes_away: 4, alerts });
const leg = { mode: 'train', path: Array.from({ length: 50 }, () => [-33.8, 151.2]), alerts: ['closed'] };

describe('shortening a response for an assistant', () => {
  it('a short response for an assistant is left whole', () => {
    const body = { journeys: [{ legs: [leg] }] };
    expect(shorten(body, 5000)).toEqual({ text: JSON.stringify(body), leftOut: [] });
  });

  it('a long response first loses the paths of its legs', () => {
    const { text, leftOut } = shorten({ journeys: [{ legs: [leg, { ...leg, polyline: 'abc' }] }] }, 500);
    expect(JSON.parse(text).journeys).toEqual([
      {
        legs: [
          { mode: 'train', path: [], alerts: ['closed'] },
          { mode: 'train', path: [], alerts: ['closed'] },
        ],
      },
    ]);
    expect(leftOut).toEqual(['the paths of legs']);
  });

  it('a long response without paths loses the ends of long alerts, then the alerts', () => {
    const departures = Array.from({ length: 5 }, () => departure(['A1']));
    const body = { departures, alert_texts: { A1: 'x'.repeat(5000) } };
    const cut = shorten(body, 2000);
    expect(JSON.parse(cut.text)).toEqual({ departures, alert_texts: { A1: `${'x'.repeat(199)}…` } });
    expect(cut.leftOut).toEqual(['the ends of long alerts']);
    const without = shorten(body, 600);
    expect(JSON.parse(without.text)).toEqual({ departures: departures.map((one) => ({ ...one, alerts: [] })) });
    expect(without.leftOut).toEqual(['the ends of long alerts', 'all alerts']);
  });

  it('a list of alerts keeps whole alerts, and loses the last ones', () => {
    const alerts = Array.from({ length: 20 }, (_, id) => ({ id, text: 'x'.repeat(100) }));
    const { text, leftOut } = shorten({ alerts, total: 20 }, 1000);
    const kept = JSON.parse(text).alerts;
    expect(kept).toEqual(alerts.slice(0, kept.length));
    expect(kept.length).toBeGreaterThan(5);
    expect(leftOut).toEqual([`the last ${20 - kept.length} of 20 alerts`]);
  });

  it('a list that is still too long loses its last records, and the others stay whole', () => {
    const body = { stop_id: '1', departures: Array.from({ length: 50 }, () => departure([])) };
    const { text, leftOut } = shorten(body, 1000);
    const { stop_id, departures } = JSON.parse(text);
    expect(stop_id).toBe('1');
    expect(departures).toEqual(body.departures.slice(0, departures.length));
    expect(departures.length).toBeGreaterThan(5);
    expect(leftOut).toEqual([`the last ${50 - departures.length} of 50 departures`]);
  });

  it('a shortened response is never longer than allowed, and reports whenever something is missing', () => {
    const alerts = fc.array(fc.constantFrom('A1', 'A2'), { maxLength: 5 });
    const texts = fc.record({ A1: fc.string({ maxLength: 400 }), A2: fc.string({ maxLength: 400 }) });
    const records = fc.array(
      fc.record({ name: fc.string(), alerts, path: fc.array(fc.tuple(fc.double(), fc.double())) }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(records, texts, fc.integer({ min: 50, max: 5000 }), (list, all, maxLength) => {
        const body = { stop_id: '1', records: list, alert_texts: all };
        const { text, leftOut } = shorten(body, maxLength);
        expect(text.length).toBeLessThanOrEqual(maxLength);
        expect(leftOut.length > 0).toBe(text !== JSON.stringify(body));
      }),
      { seed: 7 },
    );
  });
});
