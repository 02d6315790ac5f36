import { AlertList } from '#src/alerts/alert-list.ts';
import { createOperations } from '#src/operations/all-operations.ts';
import { Vehicles } from '#src/realtime/vehicles.ts';
import { StopRegister } from '#src/stops/register.ts';
import { noStops } from '#src/stops/table.ts';
import { emptyRecord } from '#src/transit/punctuality.ts';
import { oneCarPark } from '#test/support/car-parks.ts';

/** Every operation with its description, without any known stop. Without `now` all days cost the same. */
export function describedOperations(docsUrl = 'https://example.test/docs', now?: () => Date) {
  const stops = new StopRegister(noStops);
  return createOperations({
    stops,
    vehicles: new Vehicles({ now: Date.now }),
    carParks: oneCarPark(Date.now),
    alerts: new AlertList({ now: Date.now, stops }),
    punctuality: emptyRecord,
    docsUrl,
    now,
  });
}
