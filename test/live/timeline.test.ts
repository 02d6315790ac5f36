import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addPage,
  type PageAnswer,
  readTimeline,
  type Timeline,
  type TimelineEvent,
  toPage,
} from '#src/live/timeline.ts';
import { findTimelineQuestion, timetableAgeMs } from '#src/live/timeline-question.ts';
import { MODES, type Mode } from '#src/transit/mode.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = new Date('2026-01-14T03:00:00Z').getTime();
const at = (minute: number) => NOW + minute * MINUTE;

/** A departure planned so many minutes after 03:00. */
function event(minute: number, more: Partial<TimelineEvent> = {}): TimelineEvent {
  return { runId: `run ${minute}`, stopId: 'P1', mode: 'bus', plannedAt: at(minute), ...more };
}

/** An answer retrieved at `retrieved`, asked for `askedFor` (minutes after 03:00; null for the present). */
function answer(
  events: TimelineEvent[],
  more: Partial<Record<'askedFor' | 'retrieved' | 'count', number>> = {},
  modes: readonly Mode[] = MODES,
): PageAnswer<TimelineEvent> {
  const planned = events.map(({ plannedAt }) => plannedAt);
  return {
    askedFor: more.askedFor === undefined ? null : at(more.askedFor),
    modes,
    retrievedAt: at(more.retrieved ?? 0),
    events,
    eventCount: more.count ?? 40,
    lastPlannedAt: planned.length > 0 ? Math.max(...planned) : null,
  };
}

const timelineOf = (...answers: PageAnswer<TimelineEvent>[]) =>
  answers.reduce<Timeline<TimelineEvent>>((timeline, one) => addPage(timeline, toPage(one)), []);
const read = (timeline: Timeline<TimelineEvent>, { modes = MODES as readonly Mode[], from = 0, since = -360 } = {}) => {
  const stretch = readTimeline(timeline, { modes, from: at(from), retrievedSince: at(since) });
  const minutes = stretch.events.map(({ plannedAt }) => (plannedAt - NOW) / MINUTE).sort((one, other) => one - other);
  return { until: (stretch.until - NOW) / MINUTE, isEnd: stretch.isEnd, minutes };
};

describe('a timeline', () => {
  it('covers a full page up to the minute of its last event, which may have more', () => {
    const timeline = timelineOf(answer([event(2), event(9), event(14)]));
    expect(read(timeline)).toEqual({ until: 14, isEnd: false, minutes: [2, 9] });
  });

  it('covers everything when the page has room left', () => {
    expect(read(timelineOf(answer([event(2), event(9)], { count: 2 })))).toEqual({
      until: 359,
      isEnd: true,
      minutes: [2, 9],
    });
    expect(read(timelineOf(answer([], { count: 0 })))).toMatchObject({ isEnd: true, minutes: [] });
  });

  it('goes on with a page that begins before the last one ends, without repeats', () => {
    const timeline = timelineOf(
      answer([event(2), event(12), event(14)]),
      answer([event(12), event(14), event(14, { runId: 'another' }), event(29)], { askedFor: 12, retrieved: 1 }),
    );
    expect(read(timeline)).toEqual({ until: 29, isEnd: false, minutes: [2, 12, 14, 14] });
  });

  it('does not go over a gap', () => {
    const timeline = timelineOf(
      answer([event(2), event(14)]),
      answer([event(32), event(50)], { askedFor: 30, retrieved: 1 }),
    );
    expect(read(timeline)).toMatchObject({ until: 14, minutes: [2] });
    expect(read(timeline, { from: 31 })).toMatchObject({ until: 50, minutes: [2, 14, 32] });
    expect(read(timeline, { from: 20 })).toMatchObject({ until: 20 });
  });

  it('covers several modes only where each of them is covered', () => {
    const timeline = timelineOf(
      answer([event(2), event(40)], {}, ['bus']),
      answer([event(3, { mode: 'train' }), event(9, { mode: 'train' })], {}, ['train']),
    );
    expect(read(timeline, { modes: ['bus'] })).toMatchObject({ until: 40, minutes: [2] });
    expect(read(timeline, { modes: ['bus', 'train'] })).toMatchObject({ until: 9, minutes: [2, 3] });
    expect(read(timeline, { modes: ['bus', 'ferry'] })).toMatchObject({ until: 0 });
  });

  it('keeps what was planned earlier and is late, until a page of the present no longer lists it', () => {
    const late = event(-9);
    const first = timelineOf(answer([late, event(2), event(14)]));
    expect(read(first, { from: 1 }).minutes).toEqual([-9, 2]);
    const second = addPage(first, toPage(answer([event(2), event(14)], { retrieved: 1 })));
    expect(read(second, { from: 1 }).minutes).toEqual([2]);
  });

  it('keeps what runs ahead of its timetable where a page that begins later does not list it', () => {
    const timeline = timelineOf(
      answer([event(2), event(12), event(14)]),
      answer([event(15), event(29)], { askedFor: 12, retrieved: 1 }),
    );
    expect(read(timeline).minutes).toEqual([2, 12, 14, 15]);
  });

  it('drops what a later page no longer lists', () => {
    const timeline = timelineOf(
      answer([event(2), event(9), event(14)]),
      answer([event(2), event(14)], { retrieved: 1 }),
    );
    expect(read(timeline, { from: 1 }).minutes).toEqual([2]);
  });

  it('takes what the later page says, in whatever order they arrive', () => {
    const earlier = answer([event(2), event(9), event(14)]);
    const later = answer([event(2, { stopId: 'P2' }), event(14)], { retrieved: 1 });
    for (const timeline of [timelineOf(earlier, later), timelineOf(later, earlier)]) {
      expect(read(timeline, { from: 1 }).minutes).toEqual([2]);
      expect(timeline.flatMap(({ events }) => events).find(({ runId }) => runId === 'run 2')?.stopId).toBe('P2');
    }
  });

  it('keeps both calls that one page lists of a run at the same time: one cancelled, one at another platform', () => {
    const moved = answer([event(2), event(2, { stopId: 'P2' }), event(14)]);
    expect(read(timelineOf(moved)).minutes).toEqual([2, 2]);
    expect(
      read(timelineOf(answer([event(2), event(14)]), { ...moved, retrievedAt: at(1) }), { from: 1 }).minutes,
    ).toEqual([2, 2]);
  });

  it('knows events without an identifier by nothing: a later page replaces them by its span alone', () => {
    const nameless = event(5, { runId: null });
    const timeline = timelineOf(answer([nameless, event(14)]), answer([nameless, event(14)], { retrieved: 1 }));
    expect(read(timeline, { from: 1 }).minutes).toEqual([5]);
  });

  it('is not read beyond the wanted age, and forgets pages after six hours', () => {
    const timeline = timelineOf(answer([event(2), event(200)]));
    expect(read(timeline, { from: 121, since: 1 })).toMatchObject({ until: 121, minutes: [] });
    expect(read(timeline, { from: 121, since: 0 })).toMatchObject({ until: 200 });
    const next = addPage(timeline, toPage(answer([event(361)], { retrieved: 361 })));
    expect(next).toHaveLength(1);
  });

  it('of any pages lists no run twice and nothing outside what a page lists', () => {
    const pageAnswer = fc
      .record({
        minutes: fc.uniqueArray(fc.integer({ min: -10, max: 120 }), { maxLength: 20 }),
        askedFor: fc.option(fc.nat(100), { nil: undefined }),
        retrieved: fc.nat(90),
        count: fc.constantFrom(39, 40),
        modes: fc.constantFrom<readonly Mode[]>(MODES, ['bus']),
      })
      .map(({ minutes, modes, askedFor, ...more }) =>
        answer(
          minutes.map((minute) => event(minute)),
          askedFor === undefined ? more : { ...more, askedFor },
          modes,
        ),
      );
    fc.assert(
      fc.property(fc.array(pageAnswer, { maxLength: 8 }), fc.nat(100), (answers, from) => {
        const { minutes, until } = read(timelineOf(...answers), { modes: ['bus'], from });
        expect(new Set(minutes).size).toBe(minutes.length);
        expect(until).toBeGreaterThanOrEqual(from);
        const listed = new Set(answers.flatMap(({ events }) => events.map(({ runId }) => runId)));
        for (const minute of minutes) expect(listed).toContain(`run ${minute}`);
      }),
    );
  });
});

describe('the departure monitor is asked', () => {
  const ask = (
    timeline: Timeline<TimelineEvent>,
    {
      modes = ['bus'] as readonly Mode[],
      from = null as number | null,
      limit = 2,
      now = 0,
      alsoAsked = [] as Mode[],
    } = {},
  ) => {
    const wanted = {
      modes,
      at: from === null ? null : at(from),
      limit,
      counts: ({ plannedAt }: TimelineEvent) => plannedAt >= at(from ?? now),
    };
    const { question } = findTimelineQuestion(timeline, wanted, { now: at(now), maxAgeMs: 2 * HOUR, alsoAsked });
    return question && { at: question.at === null ? null : (question.at - NOW) / MINUTE, modes: question.modes };
  };
  const full = timelineOf(answer([event(2), event(9), event(90)], {}, ['bus']));

  it('for the present, of a stop that nothing is known of', () => {
    expect(ask([])).toEqual({ at: null, modes: ['bus'] });
  });

  it('not while the wanted number lies ahead', () => {
    expect(ask(full)).toBeNull();
    expect(ask(full, { limit: 2, now: 2 })).toBeNull();
  });

  it('for what follows, when fewer lie ahead', () => {
    expect(ask(full, { limit: 3 })).toEqual({ at: 90, modes: ['bus'] });
    expect(ask(full, { now: 3 })).toEqual({ at: 90, modes: ['bus'] });
  });

  it('for two minutes more than what follows, where there are estimates', () => {
    const busy = timelineOf(answer([event(2), event(9), event(14)], {}, ['bus']));
    expect(ask(busy, { limit: 3 })).toEqual({ at: 12, modes: ['bus'] });
  });

  it('for a later moment each time, however many departures a minute has', () => {
    const crowded = timelineOf(answer([event(0), event(1)], {}, ['bus']));
    expect(ask(crowded, { limit: 3 })).toEqual({ at: 0, modes: ['bus'] });
    const next = addPage(crowded, toPage(answer([event(0), event(1)], { askedFor: 0, retrieved: 0.1 }, ['bus'])));
    expect(ask(next, { limit: 3 })).toEqual({ at: 1, modes: ['bus'] });
  });

  it('not when nothing leaves later', () => {
    expect(ask(timelineOf(answer([event(2)], { count: 1 })), { limit: 5 })).toBeNull();
  });

  it('again at an age of two hours', () => {
    const page = timelineOf(answer([event(200), event(210), event(220)]));
    expect(ask(page, { now: 120 })).toBeNull();
    expect(ask(page, { now: 121 })).toEqual({ at: null, modes: ['bus'] });
  });

  it('for a moment in the future that is not covered, and not for one that is', () => {
    expect(ask(full, { from: 1 })).toBeNull();
    expect(ask(full, { from: 300 })).toEqual({ at: 300, modes: ['bus'] });
    const later = addPage(full, toPage(answer([event(300), event(310), event(330)], { askedFor: 300 })));
    expect(ask(later, { from: 300 })).toBeNull();
    expect(ask(later, { from: 299 })).toEqual({ at: 299, modes: ['bus'] });
  });

  it('for the modes of all boards of the stop at once', () => {
    expect(ask([], { alsoAsked: ['train', 'ferry'] })).toEqual({ at: null, modes: ['train', 'bus', 'ferry'] });
  });

  it('for the wanted modes alone, where a page of all of them holds too few', () => {
    const trains = Array.from({ length: 36 }, (_, minute) =>
      event(minute, { mode: 'train', runId: `train ${minute}` }),
    );
    const mixed = timelineOf(answer([event(1), event(5), event(12), ...trains]));
    expect(ask(mixed, { limit: 10, alsoAsked: ['train'] })).toMatchObject({ modes: ['bus'] });
    expect(ask(mixed, { limit: 4, alsoAsked: ['train'] })).toMatchObject({ modes: ['train', 'bus'] });
  });
});

it('a timetable may be two hours old, and up to six when calls are short', () => {
  expect([0, 1, 2.5, 4, 9].map((stretch) => timetableAgeMs(stretch) / HOUR)).toEqual([2, 2, 4, 6, 6]);
});
