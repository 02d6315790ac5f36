import { type DeparturePage, EVENTS_PER_PAGE, spanOf } from '#src/efa/departure-page.ts';
import type { Departure } from '#src/transit/departure.ts';
import { MODES, type Mode } from '#src/transit/mode.ts';

const PLANNED_AT = Date.parse('2026-01-14T03:05:00Z');

/** A bus on time, but for what the test says. */
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
    isVehicleAccessible: null,
    isStopAccessible: true,
    occupancy: null,
    alerts: [],
    saidAt: 0,
    state: { kind: 'scheduled' },
    ...more,
  };
}

/** A full page of the departure monitor of the present, but for what the test says. */
export function pageOf(
  departures: readonly Departure[],
  more: { askedFor?: number | null; retrievedAt: number; modes?: readonly Mode[]; eventCount?: number },
): DeparturePage {
  const { askedFor = null, retrievedAt, modes = MODES, eventCount = EVENTS_PER_PAGE } = more;
  const planned = departures.map(({ plannedAt }) => plannedAt);
  const lastPlannedAt = planned.length > 0 ? Math.max(...planned) : null;
  return {
    stopName: 'Stop',
    stopModes: [],
    modes,
    ...spanOf({ askedFor, retrievedAt, eventCount, lastPlannedAt }),
    lastPlannedAt,
    departures,
    leftOut: {},
    freshness: { retrievedAt, freshUntil: retrievedAt, staleUntil: retrievedAt, source: 'upstream', shortage: null },
  };
}
