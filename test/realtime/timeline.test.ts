import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addPage, readTimeline, type Timeline } from '#src/boards/timeline.ts';
import { MODES, type Mode } from '#src/transit/mode.ts';
import { at, event, MINUTE, NOW, page, timelineOf } from './timeline-case.ts';

const read = (
  timeline: Timeline,
  { modes = MODES as readonly Mode[], from = 0, since = -360, isPresent = false } = {},
) => {
  const wanted = { modes, at: isPresent ? null : at(from) };
  const span = readTimeline(timeline, wanted, { now: at(from), maxAgeMs: (from - since) * MINUTE });
  const minutes = span.departures.map(({ plannedAt }) => (plannedAt - NOW) / MINUTE).sort((one, other) => one - other);
  return { until: (span.until - NOW) / MINUTE, isEnd: span.isEnd, minutes };
};

describe('a timeline', () => {
  it('covers a full page up to the minute of its last event, which may have more', () => {
    const timeline = timelineOf(page([event(2), event(9), event(14)]));
    expect(read(timeline)).toEqual({ until: 14, isEnd: false, minutes: [2, 9] });
  });

  it('covers everything when the page has room left', () => {
    expect(read(timelineOf(page([event(2), event(90)], { count: 2 })))).toEqual({
      until: 359,
      isEnd: true,
      minutes: [2, 90],
    });
    expect(read(timelineOf(page([], { count: 0 })))).toMatchObject({ isEnd: true, minutes: [] });
  });

  it('goes on with a page that begins before the last one ends, without repeats', () => {
    const timeline = timelineOf(
      page([event(2), event(12), event(14)]),
      page([event(12), event(14), event(14, { runId: 'another' }), event(29)], { askedFor: 12, retrieved: 1 }),
    );
    expect(read(timeline)).toEqual({ until: 29, isEnd: false, minutes: [2, 12, 14, 14] });
  });

  it('does not go over a gap', () => {
    const timeline = timelineOf(
      page([event(2), event(14)]),
      page([event(32), event(50)], { askedFor: 30, retrieved: 1 }),
    );
    expect(read(timeline)).toMatchObject({ until: 14, minutes: [2] });
    expect(read(timeline, { from: 31 })).toMatchObject({ until: 50, minutes: [2, 14, 32] });
    expect(read(timeline, { from: 20 })).toMatchObject({ until: 20 });
  });

  it('covers several modes only where each of them is covered', () => {
    const timeline = timelineOf(
      page([event(2), event(40)], {}, ['bus']),
      page([event(3, { mode: 'train' }), event(9, { mode: 'train' })], {}, ['train']),
    );
    expect(read(timeline, { modes: ['bus'] })).toMatchObject({ until: 40, minutes: [2] });
    expect(read(timeline, { modes: ['bus', 'train'] })).toMatchObject({ until: 9, minutes: [2, 3] });
    expect(read(timeline, { modes: ['bus', 'ferry'] })).toMatchObject({ until: 0 });
  });

  it('goes on after the last departure of a mode that leaves no more, with the others', () => {
    const timeline = timelineOf(
      page([event(3, { mode: 'train' }), event(90, { mode: 'train' })], { count: 2 }, ['train']),
      page([event(2), event(14)], {}, ['bus']),
      page([event(14), event(400)], { askedFor: 14 }, ['bus']),
      page([event(400), event(410)], { askedFor: 400 }, ['bus']),
    );
    const span = read(timeline, { modes: ['bus', 'train'] });
    expect(span).toEqual({ until: 410, isEnd: false, minutes: [2, 3, 14, 90, 400] });
  });

  it('covers the present only where a page of the present leads up to it: others lack what is late', () => {
    const ahead = timelineOf(page([event(40), event(70)], { askedFor: 40 }));
    expect(read(ahead, { from: 45 })).toMatchObject({ until: 70, minutes: [40] });
    expect(read(ahead, { from: 45, isPresent: true })).toMatchObject({ until: 45 });
    const withGap = addPage(ahead, page([event(2), event(20)], { retrieved: 1 }));
    expect(read(withGap, { from: 10, isPresent: true })).toMatchObject({ until: 20 });
    expect(read(withGap, { from: 45, isPresent: true })).toMatchObject({ until: 45 });
    const whole = addPage(withGap, page([event(20), event(40), event(60)], { askedFor: 20, retrieved: 2 }));
    expect(read(whole, { from: 45, isPresent: true })).toMatchObject({ until: 70 });
  });

  it('keeps what was planned earlier and is late, until a page of the present no longer lists it', () => {
    const late = event(-9);
    const first = timelineOf(page([late, event(2), event(14)]));
    expect(read(first, { from: 1 }).minutes).toEqual([-9, 2]);
    const second = addPage(first, page([event(2), event(14)], { retrieved: 1 }));
    expect(read(second, { from: 1 }).minutes).toEqual([2]);
  });

  it('keeps what runs ahead of its timetable where a page that begins later does not list it', () => {
    const timeline = timelineOf(
      page([event(2), event(12), event(14)]),
      page([event(15), event(29)], { askedFor: 12, retrieved: 1 }),
    );
    expect(read(timeline).minutes).toEqual([2, 12, 14, 15]);
  });

  it('keeps it where both pages begin at the same time', () => {
    const timeline = timelineOf(
      page([event(11), event(14)], { askedFor: 10 }),
      page([event(14), event(29)], { askedFor: 10, retrieved: 1 }),
    );
    expect(read(timeline, { from: 10 }).minutes).toEqual([11, 14]);
  });

  it('drops what a later page no longer lists', () => {
    const timeline = timelineOf(page([event(2), event(9), event(14)]), page([event(2), event(14)], { retrieved: 1 }));
    expect(read(timeline, { from: 1 }).minutes).toEqual([2]);
  });

  it('takes what the later page says, in whatever order they arrive', () => {
    const earlier = page([event(2), event(9), event(14)]);
    const later = page([event(2, { stopId: 'P2' }), event(14)], { retrieved: 1 });
    for (const timeline of [timelineOf(earlier, later), timelineOf(later, earlier)]) {
      expect(read(timeline, { from: 1 }).minutes).toEqual([2]);
      expect(timeline.flatMap(({ departures }) => departures).find(({ runId }) => runId === 'run 2')?.stopId).toBe(
        'P2',
      );
    }
  });

  it('keeps both calls that one page lists of a run at the same time: one cancelled, one at another platform', () => {
    const moved = page([event(2), event(2, { stopId: 'P2' }), event(14)]);
    expect(read(timelineOf(moved)).minutes).toEqual([2, 2]);
    expect(
      read(timelineOf(page([event(2), event(14)]), page([...moved.departures], { retrieved: 1 })), { from: 1 }).minutes,
    ).toEqual([2, 2]);
  });

  it('knows events without an identifier by nothing: a later page replaces them by its span alone', () => {
    const nameless = event(5, { runId: null });
    const timeline = timelineOf(page([nameless, event(14)]), page([nameless, event(14)], { retrieved: 1 }));
    expect(read(timeline, { from: 1 }).minutes).toEqual([5]);
  });

  it('takes two departures without an identifier at the same minute for two', () => {
    const boat = (stopId: string) => event(5, { runId: null, stopId, mode: 'ferry' });
    const coach = event(5, { runId: null, mode: 'coach' });
    const timeline = timelineOf(
      page([boat('P1'), boat('P2'), event(14, { mode: 'ferry' })], {}, ['ferry']),
      page([coach, event(14, { mode: 'coach' })], { retrieved: 1 }, ['coach']),
    );
    expect(read(timeline, { from: 1, modes: ['ferry', 'coach'] }).minutes).toEqual([5, 5, 5]);
  });

  it('keeps no page of which a later one says everything', () => {
    const eachMinute = Array.from({ length: 30 }, (_, minute) =>
      page([event(minute + 2), event(minute + 30)], { retrieved: minute }),
    );
    expect(timelineOf(...eachMinute).length).toBeLessThanOrEqual(2);
    const eachAhead = Array.from({ length: 30 }, (_, hour) =>
      page([event(hour * 60 + 5), event(hour * 60 + 50)], { askedFor: hour * 60, retrieved: 1 }),
    );
    expect(timelineOf(...eachAhead)).toHaveLength(12);
  });

  it('is not read beyond the wanted age, and forgets pages after six hours', () => {
    const timeline = timelineOf(page([event(2), event(200)]));
    expect(read(timeline, { from: 121, since: 1 })).toMatchObject({ until: 121, minutes: [] });
    expect(read(timeline, { from: 121, since: 0 })).toMatchObject({ until: 200 });
    const next = addPage(timeline, page([event(361)], { retrieved: 361 }));
    expect(next).toHaveLength(1);
  });

  it('of any pages lists no run twice and nothing outside what a page lists', () => {
    const anyPage = fc
      .record({
        minutes: fc.uniqueArray(fc.integer({ min: -10, max: 120 }), { maxLength: 20 }),
        askedFor: fc.option(fc.nat(100), { nil: undefined }),
        retrieved: fc.nat(90),
        count: fc.constantFrom(39, 40),
        modes: fc.constantFrom<readonly Mode[]>(MODES, ['bus']),
      })
      .map(({ minutes, modes, askedFor, ...more }) =>
        page(
          minutes.map((minute) => event(minute)),
          askedFor === undefined ? more : { ...more, askedFor },
          modes,
        ),
      );
    fc.assert(
      fc.property(fc.array(anyPage, { maxLength: 8 }), fc.nat(100), (pages, from) => {
        const { minutes, until } = read(timelineOf(...pages), { modes: ['bus'], from });
        expect(new Set(minutes).size).toBe(minutes.length);
        expect(until).toBeGreaterThanOrEqual(from);
        const listed = new Set(pages.flatMap(({ departures }) => departures.map(({ runId }) => runId)));
        for (const minute of minutes) expect(listed).toContain(`run ${minute}`);
      }),
    );
  });
});
