import type { LeftOutCounts } from '../efa/answer/record.ts';
import type { Mode } from '../transit/mode.ts';
import { countChanges, type Journey } from './journey.ts';
import type { Leg } from './leg.ts';

/** What every journey of an answer has to fit. */
export interface Conditions {
  modes: readonly Mode[];
  wheelchair: boolean;
  /** Any number where undefined. */
  max_changes?: number | undefined;
}

/** The journeys that fit, and how many do not. The authority is asked for such journeys, but not trusted to send no others. */
export function keepFitting(
  journeys: readonly Journey[],
  { modes, wheelchair, max_changes = Number.POSITIVE_INFINITY }: Conditions,
): { journeys: Journey[]; leftOut: LeftOutCounts } {
  const fits = ({ mode, isAccessible }: Leg) =>
    (mode === 'walk' || modes.includes(mode)) && !(wheelchair && isAccessible === false);
  const fitting = journeys.filter((journey) => journey.legs.every(fits) && countChanges(journey) <= max_changes);
  const count = journeys.length - fitting.length;
  return { journeys: fitting, leftOut: count > 0 ? { 'not asked for': count } : {} };
}
