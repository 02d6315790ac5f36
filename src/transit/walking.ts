/** Walking speeds in metres per second. */
export const PACES = { slow: 0.8, normal: 1.2, fast: 1.6 } as const;
export type Pace = keyof typeof PACES;

/** The longest walk from a position to a stop, and the longest journey on foot, as the straight line. */
export const LONGEST_WALK_METRES = 1000;

/** Streets are longer than the straight line. */
const DETOUR = 1.3;

/** A rider's choices; the default applies to absent ones. `maxWalk` is in metres of straight line. */
interface Walking {
  pace?: Pace | undefined;
  maxWalk?: number | undefined;
}

export function walkSeconds(metres: number, { pace = 'normal' }: Walking = {}): number {
  return Math.round((metres * DETOUR) / PACES[pace]);
}

/** The straight line in metres that can be walked in this time, at most `maxWalk`. */
export function walkMetres(seconds: number, { pace = 'normal', maxWalk = LONGEST_WALK_METRES }: Walking = {}): number {
  return Math.min(maxWalk, (seconds * PACES[pace]) / DETOUR);
}
