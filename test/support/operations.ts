import { AlertList } from '#src/alerts/alert-list.ts';
import { Verdicts } from '#src/nearby/verdict.ts';
import { createOperations } from '#src/operations.ts';
import { Vehicles } from '#src/realtime/vehicles.ts';
import { StopLines } from '#src/stops/lines.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';

/** Every operation as it is described; nothing is known of any stop. */
export function describedOperations(docsUrl = 'https://example.test/docs') {
  const stops = new StopRegister(noStops);
  return createOperations({
    nearby: { verdicts: new Verdicts(() => new Date()), checkQueue: { add() {} } },
    stops,
    lookUp: () => {},
    lines: new StopLines(() => Date.now()),
    vehicles: new Vehicles({ now: Date.now }),
    alerts: new AlertList({ now: Date.now, stops }),
    docsUrl,
  });
}
