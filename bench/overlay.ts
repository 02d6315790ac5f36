import { protectUpstream } from '#src/upstream/protection.ts';
import { createSandboxService } from '#test/realtime/agreement/sandbox-service.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';
import { describeMachine, print } from './machine.ts';
import { percentile } from './percentiles.ts';

/*
 * Measures what a board costs whose finished body has run out because a minute has passed: put together from timetable and
 * feeds, and from a kept response of the departure monitor. Processor time of the process, both ways in turn for each
 * stop, boards of the sandbox in the morning peak.
 * `node bench/overlay.ts [rounds] [stops]`
 */
const [rounds = '20', stops = '40'] = process.argv.slice(2);
const START = '2026-11-17T20:30:00Z';
const GOAL = 1.5;
const silent = { info() {}, warn() {}, error() {} };

print(describeMachine());
const clock = createSimulatedClock(START);
const service = createSandboxService(
  (ask) => protectUpstream({ asks: [ask], limits: { rps: 1000, dailyBudget: 10_000_000 }, log: silent, clock }).ask,
);
service.advanceTo(clock.now());
const queries = ['200060', '200070', '200020', '215020', '209573', '202210', ...service.stopIds]
  .slice(0, Number(stops))
  .map((stop) => ({ stop, modes: 'all', limit: '20' }));

const costs = { overlaid: [] as number[], direct: [] as number[] };
const ratios: number[] = [];
for (const query of queries) {
  // The first of each asks the authority; what is timed is without calls.
  await service.overlaid(query);
  await service.direct(query);
  const sums = { overlaid: 0, direct: 0 };
  for (let round = 0; round < Number(rounds); round++) {
    for (const way of round % 2 === 0 ? (['overlaid', 'direct'] as const) : (['direct', 'overlaid'] as const)) {
      const before = process.cpuUsage();
      await service[way](query);
      const { user, system } = process.cpuUsage(before);
      sums[way] += (user + system) / 1000;
    }
  }
  costs.overlaid.push(sums.overlaid / Number(rounds));
  costs.direct.push(sums.direct / Number(rounds));
  ratios.push(sums.overlaid / sums.direct);
}

print(`${queries.length} stops, ${rounds} rounds; boards came from: ${JSON.stringify([...service.boardCounts])}\n`);
print('processor time of a board, milliseconds       p50      p90      max');
print(`  from timetable and feeds               ${figures(costs.overlaid)}`);
print(`  from a kept answer                     ${figures(costs.direct)}`);
print(`  ratio                                  ${figures(ratios)}`);
const median = percentile(ratios, 0.5);
print(`${median <= GOAL ? 'holds' : 'BROKEN'}: the median ratio is at most ${GOAL}`);
if (median > GOAL) process.exitCode = 1;

function figures(values: readonly number[]): string {
  return [0.5, 0.9, 1].map((share) => percentile(values, share).toFixed(2).padStart(9)).join('');
}
