import { type Choices, LONGEST_WALK_METRES, PACES } from './choices.ts';

/** Streets are longer than the straight line. */
const DETOUR = 1.3;

export function walkSeconds(metres: number, { pace = 'normal' }: Choices = {}): number {
  return Math.round((metres * DETOUR) / PACES[pace]);
}

/** The straight line that can be walked in this time; never longer than the longest walk of a journey. */
export function walkMetres(seconds: number, { pace = 'normal', maxWalk = LONGEST_WALK_METRES }: Choices = {}): number {
  return Math.min(maxWalk, (seconds * PACES[pace]) / DETOUR);
}
