import { expect, it } from 'vitest';
import { createBoardsOperation } from '#src/operations/boards/operation.ts';
import { departuresOperation } from '#src/operations/departures/operation.ts';
import { createNearbyOperation } from '#src/operations/nearby/operation.ts';
import { parseQuery } from '#src/operations/operation.ts';
import { createResponses } from '#src/operations/serve.ts';
import { createSources } from '#src/operations/sources.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import { ids } from '#test/support/ids.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';
import { noUpstream } from '#test/support/no-upstream.ts';

const NOW = Date.parse('2026-04-15T06:00:10Z');

it('boards reuse the cached responses of their stops, and so do requests for one of these stops', async () => {
  const found: string[] = [];
  const oneStop: typeof departuresOperation = {
    ...departuresOperation,
    async handle({ stop }) {
      found.push(stop);
      const freshUntil = NOW + 15_000;
      const times = { retrievedAt: NOW, freshUntil, staleUntil: freshUntil };
      const body = { stop_id: stop, stop_name: stop, retrieved_at: '2026-04-15T06:00:10Z', departures: [] };
      return { body, freshness: { ...times, source: 'upstream', shortage: null } };
    },
  };
  const boards = createBoardsOperation({
    oneStop,
    nearby: createNearbyOperation({ stops: new StopRegister(noStops) }),
    docsUrl: 'https://example.test/docs',
  });
  const log = { ...createTestLog(), debug: () => {} };
  const now = () => new Date(NOW);
  const responses = createResponses({
    sources: createSources({ queryUpstream: noUpstream }, () => now().getTime()),
    ids,
    now: () => now().getTime(),
    deadlineMs: 1000,
    log,
  });
  const requester = { priority: 'low' } as const;
  const findOne = (stop: string) =>
    responses.get(oneStop, parseQuery(oneStop, { stop, lead: '3', modes: 'all' }), requester);
  const findSome = async (stops: string) => {
    const query = parseQuery(boards, { stops, lead: '3', modes: 'all' });
    const { body } = await responses.get(boards, query, requester);
    return (body.content() as { boards: { stop_id: string }[] }).boards.map(({ stop_id }) => stop_id);
  };

  await findOne('2');
  expect(await Promise.all([findSome('1,2'), findSome('2,3')])).toEqual([
    ['1', '2'],
    ['2', '3'],
  ]);
  await findOne('3');
  expect(found).toEqual(['2', '1', '3']);
});
