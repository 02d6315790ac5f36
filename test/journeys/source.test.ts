import { describe, expect, it } from 'vitest';
import { systemClock } from '#src/core/clock.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { beyondTimetable, serviceUnavailable } from '#src/errors/messages.ts';
import { chooseJourneys, type FoundJourneys, type JourneyQuery } from '#src/journeys/source.ts';
import { freshnessOf } from '#src/transit/freshness.ts';
import { type Journey, LEG_DEFAULTS } from '#src/transit/journey.ts';
import { MODES } from '#src/transit/mode.ts';
import { noUpstream } from '#test/support/no-upstream.ts';

const query: JourneyQuery = {
  from: '1',
  to: '2',
  at: null,
  isArrival: false,
  modes: MODES,
  isAccessible: false,
  cancelled: 'exclude',
};
const context = { queryUpstream: noUpstream };

function found(source: 'timetable' | 'planner', arrivesAt: number): FoundJourneys {
  const at = (moment: number) => ({ plannedAt: moment, realtimeAt: null }) as never;
  const journey: Journey = {
    legs: [{ ...LEG_DEFAULTS, origin: at(0), destination: at(arrivesAt), durationMs: 0 }],
  };
  return { journeys: [journey], leftOut: {}, freshness: freshnessOf({ retrievedAt: 0 }), origin: { source } };
}

function choose(options: {
  mode?: 'auto' | 'timetable';
  covers?: boolean;
  isScarce?: boolean;
  planner?: () => Promise<FoundJourneys>;
  ours?: number;
  search?: () => Promise<FoundJourneys>;
  compared?: (agrees: boolean) => void;
}) {
  const {
    mode = 'auto',
    covers = true,
    isScarce = false,
    planner = async () => found('planner', 0),
    ours = 0,
    search = async () => found('timetable', ours),
    compared,
  } = options;
  return chooseJourneys({
    mode,
    planner: { fetch: planner },
    timetable: { covers: () => covers, lastDay: () => '20270131', fetch: search },
    isScarce: () => isScarce,
    clock: { ...systemClock, after: (_, task) => systemClock.after(20, task) },
    ...(compared && { compared }),
  });
}

const failing =
  (code: 'UPSTREAM_UNAVAILABLE' | 'UPSTREAM_ERROR' | 'STOP_NOT_FOUND', unavailable: 'day' | 'upstream' = 'upstream') =>
  async () => {
    throw new ApiError(code, 'as upstream says', { unavailable });
  };

describe('the source of journeys', () => {
  it('journeys come from the trip planner while it responds and calls are left', async () => {
    expect((await choose({}).fetch(query, context)).origin).toEqual({ source: 'planner' });
  });

  it('journeys come from the timetable, without an upstream call, while calls are short', async () => {
    const planner = async () => expect.unreachable();
    expect((await choose({ isScarce: true, planner }).fetch(query, context)).origin).toEqual({
      source: 'timetable',
      reason: 'calls are short',
    });
    expect((await choose({ mode: 'timetable', planner }).fetch(query, context)).origin.source).toBe('timetable');
  });

  it('journeys with an option that the trip planner could only filter by come from the timetable, which searches with it', async () => {
    const planner = async () => expect.unreachable();
    for (const option of [{ maxChanges: 0 }, { withoutBooking: true }]) {
      expect((await choose({ planner }).fetch({ ...query, ...option }, context)).origin.source).toBe('timetable');
    }
  });

  it('journeys come from the timetable when the trip planner fails, is slow or has no calls left', async () => {
    const reasonOf = async (planner: () => Promise<FoundJourneys>) =>
      (await choose({ planner }).fetch(query, context)).origin.reason;
    expect(await reasonOf(failing('UPSTREAM_ERROR'))).toBe('the trip planner fails');
    expect(await reasonOf(failing('UPSTREAM_UNAVAILABLE', 'day'))).toBe('calls are short');
    expect(await reasonOf(() => new Promise(() => {}))).toBe('the trip planner is slow');
  });

  it('journeys outside the timetable come from the trip planner, errors included', async () => {
    await expect(choose({ planner: failing('STOP_NOT_FOUND') }).fetch(query, context)).rejects.toMatchObject({
      code: 'STOP_NOT_FOUND',
    });
    await expect(
      choose({ covers: false, mode: 'timetable', planner: failing('UPSTREAM_ERROR') }).fetch(query, context),
    ).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' });
  });

  it('journeys of both sources are compared, and agree within three minutes', async () => {
    const compared: boolean[] = [];
    for (const ours of [0, 180_000, 181_000]) {
      await choose({ ours, compared: (agrees) => compared.push(agrees) }).fetch(query, context);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(compared).toEqual([true, true, false]);
  });

  it('a comparison counts only if the timetable was searched', async () => {
    const compared: boolean[] = [];
    const refused = () => Promise.reject(serviceUnavailable());
    const none = () => Promise.reject(new ApiError('NO_JOURNEYS_FOUND', 'none'));
    for (const search of [refused, none]) {
      await choose({ search, compared: (agrees) => compared.push(agrees) }).fetch(query, context);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(compared).toEqual([false]);
  });

  it('the refusal of a day that the timetable lacks names the last day of the timetable', async () => {
    const planner = async () => {
      throw beyondTimetable('20300101');
    };
    await expect(choose({ covers: false, planner }).fetch(query, context)).rejects.toMatchObject({
      code: 'DATE_OUT_OF_RANGE',
      message:
        'The day 20300101, from `date` or `time`, is outside the published timetable. The timetable ends on 20270131.',
    });
  });
});
