/** The longest walk from a position to a stop, and the longest journey on foot. */
export const REACH_METRES = 1000;
/** Streets are longer than the straight line. */
const DETOUR = 1.3;
const METRES_PER_SECOND = 1.2;

export function walkSeconds(metres: number): number {
  return Math.round((metres * DETOUR) / METRES_PER_SECOND);
}

/** The straight line that can be walked in this time; never longer than the longest walk of a journey. */
export function walkMetres(seconds: number): number {
  return Math.min(REACH_METRES, (seconds * METRES_PER_SECOND) / DETOUR);
}
