import type { Mode } from './mode.ts';

/** A call of a vehicle, for the notices that concern it. */
export interface AlertSubject {
  mode: Mode;
  /** Short route name. */
  route: string;
  /** The trip planner's number of the network; null where it is not known. */
  network: number | null;
  /** As `RealtimeTripId` names the run; null where it is not known. */
  tripId: string | null;
  /** The platform, stand or pole, then its station. */
  stopIds: readonly [string, ...string[]];
  /** The time of the call, in milliseconds since 1970. */
  at: number;
}

export interface AlertText {
  text: string;
  /** Whether it says that a wheelchair may find no place on the vehicle. */
  restrictsWheelchairs: boolean;
}

/** The notices that concern a call, in the order of the departure monitor: those of the stop, the line, the run. */
export type FindAlerts = (subject: AlertSubject) => AlertText[];
