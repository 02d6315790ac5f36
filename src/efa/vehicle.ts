import type { StopEvent, Transportation, VehicleProperties } from './payload.ts';

/**
 * The identifier of one run of one vehicle on one day, by which live feeds name it too. An extra run has the vehicle
 * system's identifier only. `tripCode` is no identifier: unrelated extra runs share it.
 */
export function findRunId(...places: (VehicleProperties | undefined)[]): string | null {
  const ids = [...places.map((place) => place?.RealtimeTripId), ...places.map((place) => place?.AVMSTripID)];
  return ids.map((id) => id?.trim()).find((id) => id) ?? null;
}

/**
 * Whether the vehicle is accessible: by what is known of the vehicle on this run, else by what the timetable plans.
 * Only where an answer says nothing of the vehicle does the accessibility of the stop stand in for it.
 */
export function isWheelchairAccessible({
  properties: event,
  transportation: { properties: run },
}: Pick<StopEvent, 'properties'> & { transportation: Pick<Transportation, 'properties'> }): boolean {
  const attributes = [...(run?.attributes ?? []), ...(event?.attributes ?? [])];
  const hasAttribute = (name: string) => (attributes.includes(name) ? true : undefined);
  return (
    event?.AVMLowFloorVeh ??
    run?.AVMLowFloorVeh ??
    hasAttribute('AVM_LOWFLOORVEHICLE') ??
    event?.PlanWheelChairAccess ??
    run?.PlanWheelChairAccess ??
    hasAttribute('PLAN_WHEELCHAIRACCESS') ??
    event?.WheelchairAccess === true
  );
}
