import { expect, it } from 'vitest';
import { callState, cancellationOf, delaySeconds, isReported } from '#sandbox/timetable/realtime.ts';
import { plannedSeconds, type Run, realtimeTripId } from '#sandbox/timetable/run.ts';
import { timetableAround } from '#sandbox/timetable/timetable.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { createSandboxService, MIDNIGHT } from './sandbox-service.ts';

/** `FOLLOWED_JOURNEYS=1000 vitest run test/realtime/agreement/followed-journeys.test.ts` follows more. */
const JOURNEYS = Number(process.env.FOLLOWED_JOURNEYS ?? 48);
const MINUTE_MS = 60_000;
const STARTS = [7, 12, 16.5, 22.5];
const EVERY_MINUTES = 6;
/** Enough pairs to include rides that will be cancelled. */
const LEAST_PAIRS = 60;
/** Planned far enough ahead that delays are mostly unknown. */
const MOST_AHEAD_MINUTES = 100;
const LONGEST_MINUTES = 150;
/** Feeds still list a cancelled run for this long after its end; upstream does not. */
const LISTED_MINUTES = 25;

type Service = Awaited<ReturnType<typeof createSandboxService>>;
type Planned = Awaited<ReturnType<Service['trips']>>[number];
type Told = Awaited<ReturnType<Service['follow']>>;

/** A planned ride, and the calls of the sandbox's run where it begins and ends. */
interface Ride {
  planned: Planned['legs'][number];
  run: Run;
  from: number;
  to: number;
}

const isRide = ({ mode }: { mode: string }) => mode !== 'walk';
const secondsOf = (moment: string) => Date.parse(moment) / 1000;

function ridesOf({ legs }: Planned, runs: ReadonlyMap<string, Run>): Ride[] {
  return legs.filter(isRide).flatMap((planned) => {
    const run = runs.get(planned.trip_id ?? '');
    const callAt = (stopId: string, after: number) =>
      run?.pattern.points.findIndex(({ id }, call) => call > after && id === stopId) ?? -1;
    const from = callAt(planned.origin.stop_id, -1);
    const to = callAt(planned.destination.stop_id, from);
    return run && from >= 0 && to >= 0 ? [{ planned, run, from, to }] : [];
  });
}

/** Whether the ride is cancelled by the time of the vehicle's last report. */
function isCut({ run, from, to }: Ride): boolean {
  const cut = cancellationOf(run);
  return isReported(run, run.startSeconds) && (cut === 'trip' || cut === from || cut === to);
}

/** When the vehicle actually called. */
function happenedAt({ run }: Ride, call: number): number {
  return plannedSeconds(run, call) + (isReported(run, run.startSeconds) ? delaySeconds(run, call) : 0);
}

/** Yields the differences between a reported ride and what its vehicle is doing. */
function* compare(ride: Ride, told: Told['journey']['legs'][number], now: number, count: (name: string) => void) {
  const times = `${told.origin.departs_at} to ${told.destination.arrives_at}`;
  const place = `${new Date(now).toISOString()} ${told.mode} ${ride.planned.trip_id} of ${times}`;
  const isLongOver = plannedSeconds(ride.run, ride.to) * 1000 < now - LISTED_MINUTES * MINUTE_MS;
  if (isCut(ride) && isReported(ride.run, now / 1000)) {
    count('reported cancelled');
    if (!told.cancelled && !isLongOver) yield `${place} is not reported as cancelled`;
    return;
  }
  if (told.cancelled) yield `${place} is reported as cancelled`;
  const ends = [
    { call: ride.from, stopId: told.origin.stop_id, realtime: told.origin.departs_at_realtime },
    { call: ride.to, stopId: told.destination.stop_id, realtime: told.destination.arrives_at_realtime },
  ];
  for (const { call, stopId, realtime } of ends) {
    const state = callState(ride.run, call, now / 1000);
    const isAhead = state.kind === 'live' && state.estimatedSeconds * 1000 > now;
    if (state.kind !== 'live') {
      if (realtime && Date.parse(realtime) > now) yield `${place} has a live time at ${stopId} without a report`;
      continue;
    }
    if (realtime === null) {
      if (isAhead) yield `${place} has no live time at ${stopId}`;
      continue;
    }
    count('live times');
    const offSeconds = Math.abs(secondsOf(realtime) - state.estimatedSeconds);
    // Feeds count train delays from the whole minute.
    if (offSeconds >= 60) yield `${place} is reported ${offSeconds} seconds wrong at ${stopId}`;
    if (isAhead && state.point.id !== stopId) yield `${place} is at ${state.point.id}, not at ${stopId}`;
  }
}

/** Yields the wrong changes: compares the last report on each change, before its first vehicle arrived, with what the vehicles did. */
function* judge(rides: readonly Ride[], told: readonly { now: number; found: Told }[], count: (name: string) => void) {
  for (const [n, ride] of rides.slice(1).entries()) {
    const before = rides[n] as Ride;
    const arrival = happenedAt(before, before.to);
    const last = told.findLast(({ now }) => now <= arrival * 1000);
    const change = last?.found.changes[n];
    if (!last || !change) continue;
    const walks = last.found.journey.legs.slice(change.leg + 1, change.next_leg);
    const walkSeconds = walks.reduce((sum, { origin, destination }) => {
      const end = destination.arrives_at_realtime ?? destination.arrives_at;
      return sum + secondsOf(end) - secondsOf(origin.departs_at_realtime ?? origin.departs_at);
    }, 0);
    const spareSeconds = happenedAt(ride, ride.from) - arrival - walkSeconds;
    const isMissed = isCut(before) || isCut(ride) || spareSeconds < 0;
    count(isMissed ? 'changes missed' : 'changes made');
    const isClose = !isCut(before) && !isCut(ride) && Math.abs(spareSeconds) <= 60;
    if (isMissed !== (change.status === 'missed') && !isClose)
      yield `${before.planned.trip_id} to ${ride.planned.trip_id}: ${spareSeconds} seconds to spare, reported ${change.status}`;
  }
}

const counts = new Map<string, number>();
const count = (name: string) => void counts.set(name, (counts.get(name) ?? 0) + 1);

it.each(STARTS)(
  'journeys from hour %d on, followed by ID from plan to end, report what their vehicles do',
  async (hours) => {
    const start = MIDNIGHT + hours * 60 * MINUTE_MS;
    const service = await createSandboxService();
    service.advanceTo(start);
    const runs = new Map(
      service.network.patterns
        .flatMap(timetableAround(start / 1000))
        .filter(({ startSeconds }) => Math.abs(startSeconds - start / 1000) < 6 * 3600)
        .map((run) => [realtimeTripId(run), run] as const),
    );
    const problems: string[] = [];

    const most = JOURNEYS / STARTS.length;
    const followed: { planned: Planned; rides: Ride[]; told: { now: number; found: Told }[]; isOver: boolean }[] = [];
    for (let n = 0; n < LEAST_PAIRS || followed.length < most; n++) {
      const [from = '', to = ''] = [37, 101].map(
        (step, end) => service.stopIds[(n * step + end) % service.stopIds.length],
      );
      const time = new Date(start + ((n * 20) % (MOST_AHEAD_MINUTES + 20)) * MINUTE_MS).toISOString().slice(0, 16);
      const query = { from, to, include: 'ids', path: 'none', time: `${time}Z` };
      for (const planned of await service.trips(query).catch(() => [])) {
        const rides = ridesOf(planned, runs);
        const isWhole = rides.length === planned.legs.filter(isRide).length;
        const isShort = Date.parse(planned.arrives_at) < start + LONGEST_MINUTES * MINUTE_MS;
        // Past `most`, only rare cases are added.
        const isWanted = followed.length < most || rides.some(isCut);
        if (planned.journey_id && isWhole && isShort && isWanted)
          followed.push({ planned, rides, told: [], isOver: false });
      }
    }

    for (let now = start; followed.some(({ isOver }) => !isOver); now += EVERY_MINUTES * MINUTE_MS) {
      service.advanceTo(now);
      for (const one of followed.filter(({ isOver }) => !isOver)) {
        const id = one.planned.journey_id ?? '';
        const found = await service.follow(id).catch((error: unknown) => error);
        count('requests');
        if (found instanceof ApiError) {
          one.isOver = true;
          if (found.code !== 'JOURNEY_NOT_FOUND') problems.push(`${id}: ${found.code}`);
          const { journey } = one.told.at(-1)?.found ?? { journey: one.planned };
          const isEnded = Date.parse(journey.arrives_at_realtime ?? journey.arrives_at) <= now;
          if (!isEnded) problems.push(`${id} is over before its end`);
          continue;
        }
        const { journey, status, next_journeys: next } = found as Told;
        one.told.push({ now, found: found as Told });
        const told = journey.legs.filter(isRide);
        if (told.length !== one.rides.length) problems.push(`${id} has ${told.length} rides of ${one.rides.length}`);
        for (const [n, ride] of one.rides.entries()) {
          const leg = told[n];
          if (leg) problems.push(...compare(ride, leg, now, count));
        }
        const isBroken = status === 'missed' || status === 'cancelled';
        if (isBroken !== (next !== null)) problems.push(`${id} is ${status} with ${next?.length} next journeys`);
        if (isBroken && next?.length === 0) count('without a next journey');
        // The rest may be a single walk, which cannot be followed.
        const otherId = next?.[0]?.journey_id;
        if (otherId && (await service.follow(otherId)).status === 'cancelled')
          problems.push(`${id} goes on with what is cancelled`);
      }
    }
    for (const { rides, told } of followed) problems.push(...judge(rides, told, count));

    expect(problems).toEqual([]);
  },
  3_600_000,
);

it('the followed journeys include cancelled rides and missed changes', () => {
  for (const name of ['live times', 'reported cancelled', 'changes made', 'changes missed'])
    expect([name, counts.has(name)]).toEqual([name, true]);
});
