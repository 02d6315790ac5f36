import { expect, it } from 'vitest';
import { FEEDS, type FeedName } from '#sandbox/feeds/feed.ts';
import { FEED_SOURCES, findFeedSource } from '#src/realtime/polling/feed-source.ts';
import type { StopEvent } from '../requests.ts';
import {
  boardAt,
  FEED_NAMES,
  feedAt,
  STOP,
  type StopUpdate,
  secondsOf,
  TRIP,
  type TripUpdate,
  tripIdOf,
  tripsAt,
} from './played-day.ts';

/** Midnight in Sydney, a Wednesday. */
const MIDNIGHT = Date.parse('2026-11-17T13:00:00Z') / 1000;
const PLAYED = Array.from({ length: 16 }, (_, i) => MIDNIGHT + 4 * 3600 + i * 61 * 60);
/** Central, Town Hall, Circular Quay, Parramatta, Manly, Bondi Junction, Newcastle, Chatswood. */
const STOPS = ['200060', '200070', '200020', '215020', '209573', '202210', '229310', '206710'];

const TRAIN = 1;
const MODES = { 1: 'train', 2: 'metro', 4: 'lightrail', 5: 'bus', 7: 'coach', 9: 'ferry', 11: 'schoolbus' } as const;
const classOf = ({ transportation }: StopEvent) => transportation.product.class as keyof typeof MODES;

function isCarried(event: StopEvent): boolean {
  const { product, disassembledName = '' } = event.transportation;
  return findFeedSource({ mode: MODES[classOf(event)], network: product.id, route: disassembledName }) !== null;
}

const played = PLAYED.map((now) => ({
  now,
  trips: tripsAt(now),
  events: STOPS.flatMap((stop) => boardAt(stop, now)).filter((event) => tripIdOf(event) && isCarried(event)),
}));

/** The stop update planned for the same minute, at the same platform if the event names one. */
function updateFor(event: StopEvent, trip: TripUpdate | undefined): StopUpdate | undefined {
  const isHere = ({ stopId }: StopUpdate) => event.location.type !== 'platform' || stopId === event.location.id;
  const here = (trip?.stopTimeUpdate ?? []).filter(isHere);
  const planned = secondsOf(event.departureTimePlanned);
  return (
    here.find(({ departure }) => Math.abs(Number(departure?.time) - (departure?.delay ?? 0) - planned) < 60) ?? here[0]
  );
}

/** The conclusion of a feed reader about the event. */
function said(event: StopEvent, trip: TripUpdate | undefined) {
  if (trip?.trip.scheduleRelationship === TRIP.canceled) return { cancelled: true };
  const update = updateFor(event, trip);
  const isListedAnew = trip?.trip.scheduleRelationship === TRIP.replacement;
  if (update?.scheduleRelationship === STOP.skipped || (isListedAnew && !update)) return { cancelled: true };
  if (!update || update.scheduleRelationship === STOP.noData) return { live: false };
  const { delay, time } = update.departure ?? {};
  const isDelayOnly = classOf(event) === TRAIN && delay !== null && delay !== undefined;
  return { live: isDelayOnly ? secondsOf(event.departureTimePlanned) + delay : Number(time) };
}

function shown({ isCancelled, departureTimeEstimated }: StopEvent) {
  if (isCancelled) return { cancelled: true };
  return { live: departureTimeEstimated === undefined ? false : secondsOf(departureTimeEstimated) };
}

const isExtra = ({ realtimeStatus }: StopEvent) => realtimeStatus?.includes('EXTRA_TRIP') === true;
const timesOf = (trip: TripUpdate | undefined) => trip?.stopTimeUpdate?.map(({ departure }) => Number(departure?.time));

it('the sandbox serves the feed paths that the service polls', () => {
  const paths = (feeds: Record<string, { path: string }>) =>
    Object.entries(feeds).map(([name, { path }]) => [name, path]);
  expect(paths(FEEDS)).toEqual(paths(FEED_SOURCES));
});

it('sandbox feeds agree with the sandbox board about every departure', () => {
  for (const { now, trips, events } of played) {
    for (const event of events) {
      const trip = trips.get(tripIdOf(event) ?? '');
      if (isExtra(event)) expect(timesOf(trip)).toContain(secondsOf(event.departureTimeEstimated));
      else expect({ now, event, said: said(event, trip) }).toEqual({ now, event, said: shown(event) });
    }
  }
  expect(played.flatMap(({ events }) => events).length).toBeGreaterThan(3000);
});

it('every departure expected at a stop in a sandbox feed is on the board of that stop', () => {
  let due = 0;
  for (const { now, trips, events } of played) {
    const shown = new Set(events.map((event) => `${tripIdOf(event)} ${event.location.id}`));
    const listedUntil = new Map<string, number>();
    for (const { location, departureTimePlanned } of events) {
      listedUntil.set(location.id, Math.max(listedUntil.get(location.id) ?? 0, secondsOf(departureTimePlanned)));
    }
    const expected = [...trips].flatMap(([tripId, { trip, stopTimeUpdate }]) =>
      (trip.scheduleRelationship === TRIP.added ? [] : (stopTimeUpdate ?? [])).flatMap((update) => {
        const time = Number(update.departure?.time);
        const isDue =
          time >= now && time - (update.departure?.delay ?? 0) < (listedUntil.get(update.stopId ?? '') ?? 0);
        return isDue && update.scheduleRelationship === STOP.scheduled ? [`${tripId} ${update.stopId}`] : [];
      }),
    );
    expect({ now, missing: expected.filter((call) => !shown.has(call)) }).toEqual({ now, missing: [] });
    due += expected.length;
  }
  expect(due).toBeGreaterThan(1000);
});

it('each kind of disturbance occurs during the sandbox day, on boards and in feeds', () => {
  const seen = new Map<string, number>();
  const see = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
  for (const { trips, events } of played) {
    for (const event of events) {
      const trip = trips.get(tripIdOf(event) ?? '');
      const relationship = trip?.trip.scheduleRelationship ?? null;
      const update = updateFor(event, trip);
      const { platformName, plannedPlatformName } = event.location.properties ?? {};
      const isMoved = platformName !== plannedPlatformName && !event.realtimeStatus?.includes('EXTRA_STOPS');
      if (isExtra(event)) see('extra trip, ADDED');
      else if (relationship === TRIP.canceled) see('cancelled trip, CANCELED');
      else if (event.isCancelled && update?.scheduleRelationship === STOP.skipped) see('cancelled call, SKIPPED');
      else if (event.isCancelled && relationship === TRIP.replacement) see('cancelled call, left out of a REPLACEMENT');
      else if (isMoved && relationship === TRIP.replacement) see(`moved ${MODES[classOf(event)]}, REPLACEMENT`);
      else if (isMoved && relationship === TRIP.scheduled) see(`moved ${MODES[classOf(event)]}, another stop_id`);
      else if (event.isRealtimeControlled && relationship === TRIP.replacement) see('running trip, REPLACEMENT');
      else if (update?.scheduleRelationship === STOP.noData) see(`timetable only ${MODES[classOf(event)]}, NO_DATA`);
      else if (trip && !event.isRealtimeControlled) see(`timetable only ${MODES[classOf(event)]}, without updates`);
      else if ((update?.departure?.delay ?? 0) < 0) see('early, a negative delay');
      else if ((update?.departure?.delay ?? 0) > 0) see('late, a delay');
    }
  }
  expect([...seen.keys()].toSorted()).toEqual([
    'cancelled call, SKIPPED',
    'cancelled call, left out of a REPLACEMENT',
    'cancelled trip, CANCELED',
    'early, a negative delay',
    'extra trip, ADDED',
    'late, a delay',
    'moved ferry, REPLACEMENT',
    'moved ferry, another stop_id',
    'moved train, REPLACEMENT',
    'running trip, REPLACEMENT',
    'timetable only bus, NO_DATA',
    'timetable only train, without updates',
  ]);
});

it('sandbox vehicles are on running trips, one each, and move between feeds; two in a hundred fall silent', () => {
  const now = Date.parse('2026-11-17T21:00:00Z') / 1000;
  const positionsAt = (name: FeedName, seconds: number) =>
    feedAt(`${name}-positions`, seconds).entity.map(({ vehicle }) => vehicle);
  const all = FEED_NAMES.flatMap((name) => {
    const running = new Set(feedAt(name, now).entity.map(({ tripUpdate }) => tripUpdate?.trip.tripId));
    const [before, later] = [positionsAt(name, now), positionsAt(name, now + 20)];
    expect(before.filter((one) => !running.has(one?.trip?.tripId))).toEqual([]);
    return before.map((one) => ({ one, next: later.find((other) => other?.trip?.tripId === one?.trip?.tripId) }));
  });
  expect(all.length).toBeGreaterThan(300);
  expect(new Set(all.map(({ one }) => one?.trip?.tripId)).size).toBe(all.length);
  const moved = all.filter(({ one, next }) => next && next.position?.latitude !== one?.position?.latitude);
  expect(moved.length).toBeGreaterThan(all.length * 0.9);
  const silent = all.filter(({ one }) => now - Number(one?.timestamp) > 60);
  expect(silent.length).toBeGreaterThan(0);
  expect(silent.length).toBeLessThan(all.length * 0.05);
});
