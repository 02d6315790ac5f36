import type { Departure } from '#src/transit/departure.ts';
import { UNKNOWN_ACCESS } from '#src/transit/vehicle-access.ts';

const PLANNED_AT = Date.parse('2026-01-14T03:05:00Z');

/** A bus on time, except for what the test sets. */
export function departure(more: Partial<Departure> = {}): Departure {
  return {
    key: `${more.runId ?? 'R'} ${more.plannedAt ?? PLANNED_AT}`,
    runId: 'R',
    stopId: 'P1',
    network: 5,
    mode: 'bus',
    route: '343',
    destination: 'Chatswood',
    platform: null,
    plannedAt: PLANNED_AT,
    isWheelchairAccessible: true,
    access: UNKNOWN_ACCESS,
    isStopAccessible: true,
    occupancy: null,
    alerts: [],
    asOf: 0,
    state: { kind: 'scheduled' },
    ...more,
  };
}
