import { type DepartureMonitorPayload, type StopPoint, stopPointSchema } from './payload.ts';
import { findUnknownStopMessage, saysDateInvalid } from './system-message.ts';

/**
 * The stop that a departure monitor without departures speaks of; null when it does not know it. A candidate that is
 * not the best match is a guess at what the caller may have meant.
 */
export function findKnownStop(payload: DepartureMonitorPayload, stopId: string): StopPoint | null {
  const location = stopPointSchema.safeParse(payload.locations[0]).data;
  const isMeant = location?.isBest || [location?.id, location?.properties?.stopId].includes(stopId);
  const isRefused = findUnknownStopMessage(payload.systemMessages) || saysDateInvalid(payload.systemMessages);
  return location && isMeant && !isRefused ? location : null;
}
