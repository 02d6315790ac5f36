import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Priority } from '#src/core/turn-queue.ts';
import { createBoardsOperation } from '#src/operations/boards/operation.ts';
import { departuresOperation } from '#src/operations/departures/operation.ts';
import { createNearbyOperation } from '#src/operations/nearby/operation.ts';
import { createResponses } from '#src/operations/serve.ts';
import { createSources } from '#src/operations/sources.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import { departureMonitorFor } from '#test/support/departure-monitor.ts';
import { ids } from '#test/support/ids.ts';
import { createProtected, settle } from '#test/support/protected.ts';

/** Boards of uncached stops, with `rps` upstream calls a second. */
function createCold(rps: number) {
  const { clock, protection, upstream } = createProtected({ limits: { rps, dailyBudget: 60_000 } });
  upstream.outcome = (request) => {
    const { stopId } = request as { stopId: string };
    return JSON.parse(departureMonitorFor(`?name_dm=${stopId}`, '2026-04-15T12:10:00Z'));
  };
  const boards = createBoardsOperation({
    oneStop: departuresOperation,
    nearby: createNearbyOperation({ stops: new StopRegister(noStops) }),
    docsUrl: 'https://example.test/docs',
  });
  const now = () => new Date(clock.now());
  const responses = createResponses({
    sources: createSources({ queryUpstream: protection.queryUpstream, callsPerSecond: rps }, () => now().getTime()),
    ids,
    now: () => now().getTime(),
    deadlineMs: 9500,
    log: { warn() {}, debug() {} },
  });
  const find = (first: number, priority: Priority) => {
    const stops = Array.from({ length: 20 }, (_, index) => String(first + index));
    const query = boards.query.parse({ stops: stops.join(), limit: '1' });
    return settle(responses.get(boards, query, { priority, account: priority }).then(({ body }) => body.content()));
  };
  const answered = ({ outcome }: ReturnType<typeof find>) =>
    (outcome.value as { boards: object[] } | undefined)?.boards.filter((board) => 'departures' in board).length ?? 0;
  /** Advances the clock until all are settled. Worker threads need real time, hence the short waits. */
  async function advanceUntilAnswered(...sent: ReturnType<typeof find>[]) {
    for (let waited = 0; waited < 12_000 && !sent.every(({ isSettled }) => isSettled); waited += 50) {
      await clock.advance(50);
      await wait(2);
    }
    return sent.map(answered);
  }
  return { find, advanceUntilAnswered };
}

describe('boards of twenty uncached stops', () => {
  it.each(['low', 'normal', 'high'] as const)(
    'twenty uncached boards are all answered at priority %s',
    async (priority) => {
      const { find, advanceUntilAnswered } = createCold(5);
      expect(await advanceUntilAnswered(find(200_000, priority))).toEqual([20]);
    },
  );

  it('twenty uncached boards are all answered for two accounts of the largest plan at the same time', async () => {
    const { find, advanceUntilAnswered } = createCold(5);
    expect(await advanceUntilAnswered(find(200_000, 'high'), find(300_000, 'high'))).toEqual([20, 20]);
  });

  it.each([2, 3, 10])(
    'twenty uncached boards are all answered at every priority with %i upstream calls a second',
    async (rps) => {
      const counts = [];
      for (const priority of ['low', 'normal', 'high'] as const) {
        const { find, advanceUntilAnswered } = createCold(rps);
        counts.push(...(await advanceUntilAnswered(find(200_000, priority))));
      }
      expect(counts).toEqual([20, 20, 20]);
    },
  );
});
