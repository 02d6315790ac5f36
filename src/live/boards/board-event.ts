import { z } from 'zod';
import { modeSchema } from '../../transit/mode.ts';
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

/** `isShown` says whether boards understand what an event shows. */
export function boardEventSchema(isShown: (shown: object) => boolean): z.ZodType<BoardEvent> {
  return z.object({
    runId: z.string().nullable(),
    stopId: z.string(),
    mode: modeSchema,
    plannedAt: z.number(),
    isCancelled: z.boolean(),
    lastLiveAt: z.number().nullable(),
    network: z.number().nullable(),
    route: z.string(),
    shown: z.custom<object>((shown) => typeof shown === 'object' && shown !== null && isShown(shown)),
  });
}
