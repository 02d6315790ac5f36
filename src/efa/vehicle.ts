import type { StopEvent } from './payload.ts';
import type { Transportation, VehicleProperties } from './response/run.ts';

/**
 * The identifier of one run of one vehicle on one day, by which live feeds name it too. An extra run has the vehicle
 * system's identifier only. `tripCode` is no identifier: unrelated extra runs share it.
 */
export function findRunId(...places: (VehicleProperties | undefined)[]): string | null {
  const ids = [...places.map((place) => place?.RealtimeTripId), ...places.map((place) => place?.AVMSTripID)];
  return ids.map((id) => id?.trim()).find((id) => id) ?? null;
}

/** Whether the vehicle of a departure is accessible. Where nothing is said of the vehicle, the stop stands in for it. */
export function isWheelchairAccessible({
  properties: event,
  transportation: { properties: run },
}: Pick<StopEvent, 'properties'> & { transportation: Pick<Transportation, 'properties'> }): boolean {
  return findVehicleAccess(event, run) ?? event?.WheelchairAccess === true;
}

/**
 * Whether the vehicle is accessible: by what is known of the vehicle on this run, else by what the timetable plans; null
 * where the answer says neither.
 */
export function findVehicleAccess(
  record: VehicleProperties | undefined,
  run: VehicleProperties | undefined,
): boolean | null {
  const attributes = [...(run?.attributes ?? []), ...(record?.attributes ?? [])];
  const hasAttribute = (name: string) => (attributes.includes(name) ? true : undefined);
  return (
    record?.AVMLowFloorVeh ??
    run?.AVMLowFloorVeh ??
    hasAttribute('AVM_LOWFLOORVEHICLE') ??
    record?.PlanWheelChairAccess ??
    run?.PlanWheelChairAccess ??
    hasAttribute('PLAN_WHEELCHAIRACCESS') ??
    null
  );
}
