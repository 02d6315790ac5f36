import type { PlannedCall } from '../overlay/planned-call.ts';
import type { TimelineEvent } from '../timeline/timeline.ts';

/**
 * One departure as the departure monitor listed it: what timeline, overlay and choice of feeds have to know of it, and
 * what a board shows of it. Plain data: it is kept as JSON.
 */
export interface BoardEvent extends TimelineEvent, PlannedCall {
  /** The authority's number of the network; null where it does not say. */
  network: number | null;
  /** Short route name. */
  route: string;
  /** What only boards understand; this room hands it through. */
  shown: object;
}
