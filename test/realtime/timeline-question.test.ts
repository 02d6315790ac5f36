import { describe, expect, it } from 'vitest';
import { addPage, findTimelineRequest, readTimeline, type Timeline, timetableAgeMs } from '#src/boards/timeline.ts';
import type { Mode } from '#src/transit/mode.ts';
import { at, event, HOUR, MINUTE, NOW, page, timelineOf } from './timeline-case.ts';

describe('the departure monitor is asked', () => {
  const ask = (
    timeline: Timeline,
    {
      modes = ['bus'] as readonly Mode[],
      from = null as number | null,
      limit = 2,
      now = 0,
      alsoAsked = [] as Mode[],
    } = {},
  ) => {
    const wanted = { modes, at: from === null ? null : at(from) };
    const span = readTimeline(timeline, wanted, { now: at(now), maxAgeMs: 2 * HOUR });
    const found = span.departures.filter(({ plannedAt }) => plannedAt >= at(from ?? now)).length;
    const request = findTimelineRequest(timeline, span, wanted, limit - found, { now: at(now), alsoAsked });
    return request && { at: request.at === null ? null : (request.at - NOW) / MINUTE, modes: request.modes };
  };
  const full = timelineOf(page([event(2), event(9), event(90)], {}, ['bus']));

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
    const busy = timelineOf(page([event(2), event(9), event(14)], {}, ['bus']));
    expect(ask(busy, { limit: 3 })).toEqual({ at: 12, modes: ['bus'] });
  });

  it('for a later moment each time, however many departures a minute has', () => {
    const crowded = timelineOf(page([event(0), event(1)], {}, ['bus']));
    expect(ask(crowded, { limit: 3 })).toEqual({ at: 0, modes: ['bus'] });
    const next = addPage(crowded, page([event(0), event(1)], { askedFor: 0, retrieved: 0.1 }, ['bus']));
    expect(ask(next, { limit: 3 })).toEqual({ at: 1, modes: ['bus'] });
  });

  it('not when nothing leaves later', () => {
    expect(ask(timelineOf(page([event(2), event(90)], { count: 2 })), { limit: 5 })).toBeNull();
    const short = page([event(2)], { count: 1 });
    expect(ask(timelineOf(short), { limit: 5 })).toEqual({ at: 0, modes: ['bus'] });
    expect(ask(timelineOf(short, page([event(2)], { count: 1, askedFor: 0 })), { limit: 5 })).toBeNull();
  });

  it('again at an age of two hours', () => {
    const kept = timelineOf(page([event(200), event(210), event(220)]));
    expect(ask(kept, { now: 120 })).toBeNull();
    expect(ask(kept, { now: 121 })).toEqual({ at: null, modes: ['bus'] });
  });

  it('for a moment in the future that is not covered, and not for one that is', () => {
    expect(ask(full, { from: 1 })).toBeNull();
    expect(ask(full, { from: 300 })).toEqual({ at: 300, modes: ['bus'] });
    const later = addPage(full, page([event(300), event(310), event(330)], { askedFor: 300 }));
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
    const mixed = timelineOf(page([event(1), event(5), event(12), ...trains]));
    expect(ask(mixed, { limit: 10, alsoAsked: ['train'] })).toMatchObject({ modes: ['bus'] });
    expect(ask(mixed, { limit: 4, alsoAsked: ['train'] })).toMatchObject({ modes: ['train', 'bus'] });
  });
});

it('a timetable may be two hours old, and up to six when calls are short', () => {
  expect([0, 1, 2.5, 4, 9].map((stretch) => timetableAgeMs(stretch) / HOUR)).toEqual([2, 2, 4, 6, 6]);
});
