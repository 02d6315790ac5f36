import type { Mode } from '../../transit/mode.ts';

/** One departure as the departure monitor listed it: one run at one stop. Moments in milliseconds since 1970. */
export interface PlannedCall {
  /** `RealtimeTripId`, else `AVMSTripID`, trimmed; null where the authority gives neither. */
  runId: string | null;
  /** Of the platform, stand or wharf. */
  stopId: string;
  mode: Mode;
  plannedAt: number;
  /** As the departure monitor said. */
  isCancelled: boolean;
  /** When the run would leave as last said, by the departure monitor or by a feed; null if it has never been live. */
  lastLiveAt: number | null;
}
