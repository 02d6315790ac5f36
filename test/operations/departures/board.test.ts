import { describe, expect, it } from 'vitest';
import { Runs } from '#src/boards/runs.ts';
import { monitorBoards } from '#src/boards/source.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { departuresOperation } from '#src/operations/departures/operation.ts';
import { noLines } from '#src/operations/sources.ts';
import { type Departure, isCancelled } from '#src/transit/departure.ts';
import type { Mode } from '#src/transit/mode.ts';
import { type MadeUpEvent, planned, respondInTurn, toPayload } from '#test/support/departure-pages.ts';
import { ids } from '#test/support/ids.ts';

const request = { kind: 'departureMonitor', stopId: '200070', modes: ['bus'] as Mode[], at: null } as const;
const isBus = ({ mode }: { mode: Mode }) => mode === 'bus';
const failure = new ApiError('UPSTREAM_ERROR', 'Transport for NSW could not be reached.');

/** A full page: 40 departures, one per minute, all of the given class. */
const page = (from: number, productClass: (minute: number) => number = () => 5, size = 40) =>
  toPayload(
    Array.from({ length: size }, (_, index) => from + index).map((minute) => ({
      minute,
      trip: minute,
      productClass: productClass(minute),
    })),
  );
const everySecond = (minute: number) => (minute % 2 === 0 ? 5 : 1);
const minutes = ({ departures }: { departures: Departure[] }) =>
  departures.map(({ plannedAt }) => new Date(plannedAt).toISOString().replace('.000', ''));
const readBoard = (
  queryUpstream: QueryUpstream,
  sent: typeof request,
  limit: number,
  isWanted: (departure: Departure) => boolean,
  showsCancelled = false,
) => monitorBoards.fetch({ queryUpstream, request: sent, limit, showsCancelled, isWanted });

describe('a board read from upstream', () => {
  it('a board takes one upstream request when one page fills the limit', async () => {
    const queryUpstream = respondInTurn(page(0));
    const board = await readBoard(queryUpstream, request, 40, isBus);
    expect(board.departures).toHaveLength(40);
    expect(queryUpstream.requests).toEqual([request]);
  });

  it('a board reads several pages to fill a limit of 50 departures of one mode', async () => {
    const queryUpstream = respondInTurn(page(0, everySecond), page(39, everySecond), page(78, everySecond));
    const board = await readBoard(queryUpstream, request, 50, isBus);
    expect(minutes(board)).toEqual(Array.from({ length: 50 }, (_, index) => planned(index * 2)));
    expect(queryUpstream.requests).toHaveLength(3);
  });

  it('a board requests its next page from the last planned time, in Sydney wall clock, with the same stop and modes', async () => {
    const queryUpstream = respondInTurn(page(0), page(39));
    await readBoard(queryUpstream, request, 50, isBus);
    const at = { date: '20260415', time: '1639' };
    expect(queryUpstream.requests).toEqual([request, { ...request, at, isForNow: true }]);
  });

  it('a board neither repeats nor skips a departure in the minute where two pages meet', async () => {
    const first = Array.from({ length: 38 }, (_, minute): MadeUpEvent => ({ minute, trip: minute }));
    const seam = [100, 101, 102].map((trip): MadeUpEvent => ({ minute: 40, trip }));
    const rest = Array.from({ length: 7 }, (_, index): MadeUpEvent => ({ minute: 41 + index, trip: 200 + index }));
    const queryUpstream = respondInTurn(toPayload([...first, ...seam.slice(0, 2)]), toPayload([...seam, ...rest]));
    const board = await readBoard(queryUpstream, request, 48, isBus);
    expect(minutes(board)).toEqual([...first, ...seam, ...rest].map(({ minute }) => planned(minute)));
  });

  it('a board lists both vehicles that leave the same stand in the same minute', async () => {
    const twins: MadeUpEvent[] = [
      { minute: 1, trip: 1 },
      { minute: 1, trip: 2 },
      { minute: 1, trip: 3, route: '501' },
      { minute: 2, trip: undefined, headsign: 'Chiswick' },
      { minute: 2, trip: undefined, headsign: 'Drummoyne' },
    ];
    expect(
      (await readBoard(respondInTurn(toPayload(twins), toPayload([])), request, 10, isBus)).departures,
    ).toHaveLength(5);
  });

  it('cancelled departures with `cancelled=exclude` keep their position, do not count towards the limit, and never come after the last departure that does', async () => {
    const first = page(0);
    const cancelled = [5, 12].map((minute) => ({ minute, trip: 100 + minute, isCancelled: true }));
    const busy = { ...first, stopEvents: [...toPayload(cancelled).stopEvents, ...first.stopEvents] };
    const board = await readBoard(respondInTurn(busy), request, 10, isBus);
    expect(minutes(board)).toEqual([0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9].map(planned));
    expect(board.departures.filter(isCancelled)).toHaveLength(1);
  });

  it('cancelled departures count towards the limit when they are shown', async () => {
    const strike = toPayload(
      Array.from({ length: 40 }, (_, minute) => ({ minute, trip: minute, isCancelled: minute > 0 })),
    );
    const queryUpstream = respondInTurn(strike);
    const board = await readBoard(queryUpstream, request, 3, isBus, true);
    expect(minutes(board)).toEqual([0, 1, 2].map(planned));
    expect(board.departures.filter(isCancelled)).toHaveLength(2);
    expect(queryUpstream.requests).toHaveLength(1);
  });

  it('a board reads another page while an unlisted departure could leave before the late vehicle that fills the limit', async () => {
    const late = toPayload([
      { minute: 0, trip: 0 },
      { minute: 37, estimatedMinute: 45, trip: 37 },
      ...Array.from(
        { length: 38 },
        (_, index): MadeUpEvent => ({ minute: index + 1, trip: 100 + index, productClass: 1 }),
      ),
    ]);
    const further = toPayload([{ minute: 40, trip: 40 }]);
    const queryUpstream = respondInTurn(late, further);
    expect(minutes(await readBoard(queryUpstream, request, 2, isBus))).toEqual([planned(0), planned(40)]);
    expect(queryUpstream.requests).toHaveLength(2);
    // The fallback when the next page is missing.
    expect(minutes(await readBoard(respondInTurn(late, failure), request, 2, isBus))).toEqual([
      planned(0),
      planned(37),
    ]);
  });

  it('a board reads another page when all departures so far are cancelled', async () => {
    const strike = toPayload(Array.from({ length: 40 }, (_, minute) => ({ minute, trip: minute, isCancelled: true })));
    const board = await readBoard(respondInTurn(strike, page(39)), request, 1, isBus);
    expect(board.departures.filter((one) => !isCancelled(one))).toHaveLength(1);
    await expect(readBoard(respondInTurn(strike, failure), request, 1, isBus)).rejects.toBe(failure);
  });

  it('a board reads at most three pages', async () => {
    const trains = () => 1;
    const queryUpstream = respondInTurn(page(0, trains), page(39, trains), page(78, trains), page(117, trains));
    const board = await readBoard(queryUpstream, request, 10, isBus);
    expect(board.departures).toEqual([]);
    expect(queryUpstream.requests).toHaveLength(3);
  });

  describe('a board with calls', () => {
    const createFind = (queryUpstream: QueryUpstream) => {
      const now = () => Date.parse('2026-04-15T06:00:10Z');
      const run = () => Promise.reject(new Error('no other operation is run'));
      return (query: object) =>
        departuresOperation.handle(departuresOperation.query.parse({ stop: '200070', ...query }), {
          queryUpstream,
          boards: monitorBoards,
          runs: new Runs({ now }),
          lines: noLines,
          now,
          ids,
          run,
        });
    };
    const withoutCalls = ({ body }: { body: { departures: { calls?: unknown }[] } }) =>
      body.departures.map(({ calls: _, ...departure }) => departure);

    it('a board has null calls when the request with calls fails or lists other departures', async () => {
      const plain = await createFind(respondInTurn(page(0)))({});
      for (const first of [failure, { ...page(0), stopEvents: [{ stops: [] }, { stops: [] }] }]) {
        const queryUpstream = respondInTurn(first, page(0));
        const board = await createFind(queryUpstream)({ include: 'calls' });
        expect(withoutCalls(board)).toEqual(plain.body.departures);
        expect(board.body.departures.every(({ calls }) => calls === null)).toBe(true);
        expect(queryUpstream.requests.map(({ withCalls = false }) => withCalls)).toEqual([true, false]);
      }
    });

    it('a board with calls takes one upstream request', async () => {
      const events = page(0).stopEvents.map((event) => ({
        ...(event as object),
        onwardLocations: [{ id: '200060', name: 'Central', arrivalTimePlanned: planned(59) }],
      }));
      const queryUpstream = respondInTurn({ ...page(0), stopEvents: events });
      const { body } = await createFind(queryUpstream)({ include: 'calls' });
      expect(body.departures.map(({ calls }) => calls?.map(({ stop_id }) => stop_id))).toEqual(
        Array(10).fill(['2000252', '200060']),
      );
      expect(queryUpstream.requests.map(({ withCalls = false }) => withCalls)).toEqual([true]);
    });

    it('a board with `to` returns the error, not an empty list, when upstream gives no calls to check', async () => {
      const queryUpstream = respondInTurn(failure, page(0), failure);
      await expect(createFind(queryUpstream)({ to: '200060' })).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' });
    });
  });

  it('a board ends after a page of fewer than 40 events', async () => {
    const far = toPayload([{ minute: 101, trip: 101 }]).stopEvents;
    const last = page(39, everySecond, 38);
    const queryUpstream = respondInTurn(
      page(0, everySecond),
      { ...last, stopEvents: [...last.stopEvents, ...far] },
      page(102),
    );
    expect((await readBoard(queryUpstream, request, 50, isBus)).departures).toHaveLength(40);
    expect(queryUpstream.requests).toHaveLength(2);
  });

  it('a board reads on after a short page whose last departure is within the hour', async () => {
    const queryUpstream = respondInTurn(page(0, undefined, 20), page(19, undefined, 20), page(38, undefined, 20));
    expect(minutes(await readBoard(queryUpstream, request, 50, isBus))).toEqual(
      Array.from({ length: 58 }, (_, minute) => planned(minute)).slice(0, 50),
    );
  });

  it('a board ends after a short page when nothing leaves after its last departure', async () => {
    const queryUpstream = respondInTurn(page(0, undefined, 3), page(2, undefined, 1), page(60));
    expect(minutes(await readBoard(queryUpstream, request, 50, isBus))).toEqual([0, 1, 2].map(planned));
    expect(queryUpstream.requests).toHaveLength(2);
  });

  it('a board ends when the next page adds no later departure', async () => {
    const queryUpstream = respondInTurn(page(0), page(0), page(40));
    expect((await readBoard(queryUpstream, request, 50, isBus)).departures).toHaveLength(40);
    expect(queryUpstream.requests).toHaveLength(2);
  });

  it('a board ends when the next page is empty', async () => {
    const queryUpstream = respondInTurn(page(0), toPayload([]));
    expect((await readBoard(queryUpstream, request, 50, isBus)).departures).toHaveLength(40);
  });

  it('a board of a known stop without departures is empty after one upstream request', async () => {
    const queryUpstream = respondInTurn(toPayload([]));
    expect(await readBoard(queryUpstream, request, 50, isBus)).toMatchObject({
      stopName: 'Town Hall Station, Sydney',
      departures: [],
    });
    expect(queryUpstream.requests).toHaveLength(1);
  });

  it('a board keeps the departures it has when a later page fails', async () => {
    const second = await readBoard(respondInTurn(page(0), failure), request, 50, isBus);
    expect(second.departures).toHaveLength(40);
    const third = await readBoard(
      respondInTurn(page(0, everySecond), page(39, everySecond), failure),
      request,
      50,
      isBus,
    );
    expect(minutes(third).at(-1)).toBe(planned(78));
  });

  it('a board fails when its first page fails, or when a later page fails before any departure was found', async () => {
    await expect(readBoard(respondInTurn(failure), request, 10, isBus)).rejects.toBe(failure);
    const trains = respondInTurn(
      page(0, () => 1),
      failure,
    );
    await expect(readBoard(trains, request, 10, isBus)).rejects.toBe(failure);
  });

  it('a board is as old as its first page', async () => {
    const { freshness } = await readBoard(respondInTurn(page(0), page(39)), request, 50, isBus);
    expect(freshness.retrievedAt).toBe(Date.parse('2026-04-15T06:00:01Z'));
  });

  it('a board adds up the records that each page left out', async () => {
    const queryUpstream = respondInTurn(
      page(0, everySecond),
      page(39, (minute) => (minute === 60 ? 77 : 5)),
    );
    const board = await readBoard(queryUpstream, request, 50, isBus);
    expect(board.leftOut).toEqual({ 'unknown product class': 1 });
  });
});
