import { FAULT_NAMES } from '#test/access/history/faults.ts';
import { runHistory } from '#test/access/history/run.ts';
import { describeMachine, print } from './machine.ts';

/*
 * Clients record their responses while Redis and instances of the service are frozen, killed and replaced in random order. In the
 * end each counter must be at least the requests served and at most those plus the ones with an unknown outcome. Only charges
 * that a killed instance had not yet written to Redis may be lost.
 * `node bench/history.ts [runs]`
 */
/** Long enough for all instances to recover from most faults before the next one. */
const MAX_PAUSE_MS = 6000;
const [runs = '20'] = process.argv.slice(2);

print(describeMachine());
for (let run = 1; run <= Number(runs); run++) {
  const faults = FAULT_NAMES.map((name) => ({ name, order: Math.random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ name }) => name);
  print(`\nrun ${run}: ${faults.join(', ')}`);
  for (const outcome of await runHistory(faults, MAX_PAUSE_MS)) {
    const { plan, ok, refused, unknown, lost, lostWithoutReason, beyondLimit, least, most, counter } = outcome;
    const told = `ok ${ok} (${lost} lost with an instance), refused ${refused}, unknown ${unknown}`;
    const breaches = [
      counter < least && 'the counter is too low',
      counter > most && 'the counter is too high',
      lostWithoutReason > 0 && `${lostWithoutReason} lost without reason`,
      beyondLimit > 0 && `${beyondLimit} beyond the limit`,
    ].filter(Boolean);
    const verdict = breaches.length === 0 ? 'holds' : `BROKEN (${breaches.join(', ')})`;
    print(`  ${verdict}: ${plan}: ${told}; ${least} ≤ counter ${counter} ≤ ${most}`);
    if (breaches.length > 0) process.exitCode = 1;
  }
}
