import { expect, it } from 'vitest';
import type { LiveFeeds } from '#src/realtime/live-feeds.ts';
import { UNREAD } from '#src/realtime/polling/feed-health.ts';
import { Vehicles } from '#src/realtime/vehicles.ts';
import { feedOf } from '../feed-bytes.ts';
import { createSandboxService } from './sandbox-service.ts';

/** 08:00 in Sydney, a Wednesday. */
const MORNING = Date.parse('2026-11-17T21:00:00Z');
const MINUTE_MS = 60_000;
const FOLLOWED_MINUTES = 15;

type Call = NonNullable<Awaited<ReturnType<ReturnType<typeof createSandboxService>['run']>>['calls']>[number];
const times = ({ arrives_at, arrives_at_realtime, departs_at_realtime }: Call) => [
  arrives_at_realtime,
  departs_at_realtime,
  arrives_at,
];

it.each([
  ['train', '215020'],
  ['bus', '202210'],
  ['lightrail', '200060'],
])('calls of a followed %s that it has passed keep the live times that were told last', async (modes, stop) => {
  const service = createSandboxService();
  service.advanceTo(MORNING);
  const { departures } = await service.overlaid({ stop, modes, include: 'ids', limit: '10' });
  const { run_id: id } = departures.find(({ is_live: isLive }) => isLive) ?? {};
  const told = new Map<string, (string | null)[]>();
  const calls = new Map<number, number>();
  let kept = 0;
  for (let minute = 0; minute <= FOLLOWED_MINUTES; minute++) {
    service.advanceTo(MORNING + minute * MINUTE_MS + 5000);
    const run = await service.run(id ?? '', {}, { isFollowed: true });
    const next = (run.calls ?? []).findIndex(({ stop_id: stopId }) => stopId === run.next_stop_id);
    for (const [index, call] of (run.calls ?? []).entries()) {
      const last = told.get(call.stop_id);
      if (index < next - 1 && last?.slice(0, 2).some((time) => time && Date.parse(time) > MORNING)) {
        expect(times(call), `${call.name}, minute ${minute}`).toEqual(last);
        kept++;
      }
      told.set(
        call.stop_id,
        times(call).map((time, which) => time ?? last?.[which] ?? null),
      );
    }
    calls.set(minute, service.callCount());
  }
  expect(new Set(calls.values()).size, 'the feed alone tells the times').toBe(1);
  expect(kept).toBeGreaterThan(0);
});

it('a followed run keeps when it arrived where it was named, when the authority is asked again and does not say', async () => {
  const service = createSandboxService();
  service.advanceTo(MORNING);
  const board = { stop: '202210', modes: 'bus', limit: '40', include: 'ids,calls' };
  const { departures } = await service.overlaid(board);
  const soon = departures.filter(({ is_live: isLive, minutes_away: minutes }) => isLive && minutes >= 2 && minutes < 6);
  const arrivals = async ({ run_id: id, scheduled_at: scheduledAt }: (typeof soon)[number]) => {
    const { calls } = await service.run(id ?? '', {}, { isFollowed: true });
    const here = calls?.find(({ departs_at: departsAt }) => departsAt === scheduledAt);
    return { arrives_at: here?.arrives_at, arrives_at_realtime: here?.arrives_at_realtime };
  };
  for (let minute = 1; minute < 8; minute++) {
    service.advanceTo(MORNING + minute * MINUTE_MS);
    for (const departure of soon) await arrivals(departure);
  }
  const before = await Promise.all(soon.map(arrivals));
  expect(before.filter(({ arrives_at_realtime: arrivedAt }) => arrivedAt).length).toBeGreaterThan(0);
  service.advanceTo(MORNING + 8 * MINUTE_MS);
  await service.readCalls(board.stop, MORNING);
  expect(await Promise.all(soon.map(arrivals))).toEqual(before);
});

it('a vehicle that stands at a stop stops next at the one after it, on a map as on its run', async () => {
  const seconds = MORNING / 1000;
  const stops = [
    { stopId: 'here', arrival: { delay: 0, time: seconds - 10 }, departure: { delay: 0, time: seconds + 20 } },
    { stopId: 'next', arrival: { delay: 0, time: seconds + 60 }, departure: { delay: 0, time: seconds + 70 } },
    { stopId: 'last', arrival: { delay: 0, time: seconds + 120 } },
  ];
  const feed = feedOf({ timestamp: seconds, trips: [{ tripId: 'R', stops }] });
  const accepted = { at: MORNING, headerAt: MORNING, tripCount: 1 };
  const state = { feed, health: { ...UNREAD, accepted, headerSince: MORNING }, intervalMs: 20_000, polledAt: MORNING };
  const position = { tripId: 'R', vehicleId: 'V', lat: -33.87, lng: 151.2, reportedAt: MORNING, routeId: null };
  const unsaid = { label: null, stopId: null, bearing: null, occupancy: null, isAccessible: null, carriages: null };
  const feeds = {
    states: () => new Map([['buses', state]]),
    findVehicles: async () => [{ source: 'buses', headerAt: MORNING, vehicles: [{ ...position, ...unsaid }] }],
    freshUntil: () => MORNING,
  } as unknown as LiveFeeds;
  const { vehicles } = await new Vehicles({ now: () => MORNING, feeds }).find(['bus'], { tripId: 'R' });
  expect(vehicles[0]?.nextCall).toEqual({ stopId: 'next', arrivesAt: MORNING + 60_000, isByFeed: true });
  expect(vehicles[0]?.start).toMatchObject({ stopId: 'here', plannedAt: MORNING + 20_000 });
});
