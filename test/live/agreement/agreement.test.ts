import { expect, it } from 'vitest';
import { type Body, createSandboxService } from './sandbox-service.ts';

/** 00:00 in Sydney, a Wednesday. */
const MIDNIGHT = Date.parse('2026-11-17T13:00:00Z');
const MINUTE_MS = 60_000;
/** `AGREEMENT_PAIRS=10000 vitest run test/live/agreement` plays the whole day. */
const PAIRS = Number(process.env.AGREEMENT_PAIRS ?? 120);
const STOPS_A_MOMENT = 20;
/** In the small sample, the morning peak. */
const FROM_MINUTE = PAIRS < 10_000 ? 7 * 60 + 30 : 0;
const UNTIL_MINUTE = PAIRS < 10_000 ? 8 * 60 + 20 : 24 * 60;

/** Central, Town Hall, Circular Quay, Parramatta, Manly, Bondi Junction. */
const BUSY = ['200060', '200070', '200020', '215020', '209573', '202210'];
const MAX_LIMIT = 50;
/** Every fourth board is asked for the time so far ahead. */
const AHEAD_MINUTES = 40;
const FAR_AHEAD_MINUTES = 22 * 60;

/**
 * What has to agree: everything but the moment of retrieval, the occupancy of all but trains (the feeds do not tell it)
 * and departures of tomorrow at this hour (the departure monitor lists a day ahead, and the timetable was asked for
 * earlier).
 */
function rowsOf({ stop_name, departures }: Body): string[] {
  const near = departures.filter(({ minutes_away }) => minutes_away < FAR_AHEAD_MINUTES);
  const rows = near.map((departure) => (departure.mode === 'train' ? departure : { ...departure, occupancy: null }));
  return [stop_name, ...rows.map((row) => JSON.stringify(row))];
}

function clockTime(minuteOfDay: number): { date: string; time: string } {
  const [hour, minute] = [Math.floor(minuteOfDay / 60) % 24, minuteOfDay % 60].map((part) =>
    `${part}`.padStart(2, '0'),
  );
  return { date: minuteOfDay < 24 * 60 ? '20261118' : '20261119', time: `${hour}${minute}` };
}

it(`a board of timetable and feeds says what the departure monitor says at the same moment, ${PAIRS} times`, async () => {
  const service = createSandboxService();
  const moments = PAIRS / STOPS_A_MOMENT;
  let liveCount = 0;
  for (let moment = 0; moment < moments; moment++) {
    const minute = FROM_MINUTE + Math.floor((moment * (UNTIL_MINUTE - FROM_MINUTE)) / moments);
    const now = MIDNIGHT + minute * MINUTE_MS;
    service.advanceTo(now);
    for (let n = 0; n < STOPS_A_MOMENT; n++) {
      const other = service.stopIds[(moment * STOPS_A_MOMENT + n * 37) % service.stopIds.length];
      const stop = BUSY[n] ?? other ?? '';
      const limit = 5 + ((moment + 7 * n) % 20);
      const time = n % 4 === 3 ? clockTime(minute + AHEAD_MINUTES) : {};
      const query = { stop, modes: 'all', limit: String(limit), ...time };
      const overlaid = await service.overlaid(query);
      // The end of a page lacks what is planned later and runs ahead of the timetable: so a longer board.
      const direct = await service.direct({ ...query, limit: String(MAX_LIMIT) });
      const ofMonitor = rowsOf({ ...direct, departures: direct.departures.slice(0, limit) });
      const ofOverlay = rowsOf(overlaid);
      expect({
        now: new Date(now).toISOString(),
        query,
        onlyInOverlay: ofOverlay.filter((row) => !ofMonitor.includes(row)),
        missing: ofMonitor.filter((row) => !ofOverlay.includes(row)),
      }).toEqual({ now: new Date(now).toISOString(), query, onlyInOverlay: [], missing: [] });
      expect(ofOverlay).toEqual(ofMonitor);
      liveCount += overlaid.departures.filter(({ is_live }) => is_live).length;
    }
  }
  expect(service.boardCounts.get('overlay') ?? 0).toBeGreaterThan(PAIRS / 4);
  expect(liveCount).toBeGreaterThan(PAIRS);
}, 3_600_000);
