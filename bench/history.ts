import { FAULT_NAMES } from '#test/access/history/faults.ts';
import { runHistory } from '#test/access/history/run.ts';
import { describeMachine, print } from './machine.ts';

/*
 * Clients write down what they are told while Redis and instances of the service are frozen, killed and replaced, in a
 * random order. In the end each counter must be at least what was served and at most that and what nobody knows of. Lost
 * may be only what a killed instance had not been able to tell Redis.
 * `node bench/history.ts [runs]`
 */
/** Long enough for all instances to recover from most faults before the next. */
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
      counter < least && 'counted too few',
      counter > most && 'counted too many',
      lostWithoutReason > 0 && `${lostWithoutReason} lost without reason`,
      beyondLimit > 0 && `${beyondLimit} beyond the limit`,
    ].filter(Boolean);
    const verdict = breaches.length === 0 ? 'holds' : `BROKEN (${breaches.join(', ')})`;
    print(`  ${verdict}: ${plan}: ${told}; ${least} ≤ counter ${counter} ≤ ${most}`);
    if (breaches.length > 0) process.exitCode = 1;
  }
}
