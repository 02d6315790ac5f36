import type { Mode } from '../transit/mode.ts';

/** Modes by upstream's product class. Class 10, on demand, is a bus that must be booked. */
const MODE_OF_CLASS: Readonly<Record<number, Mode>> = {
  1: 'train',
  2: 'metro',
  4: 'lightrail',
  5: 'bus',
  7: 'coach',
  9: 'ferry',
  10: 'bus',
  11: 'schoolbus',
};

/** 99: a walk inside the network, between two platforms. 100: a walk over streets. */
const WALK_CLASSES: readonly number[] = [99, 100];

/** Null for walks and for unknown classes. */
export function toMode(productClass: number): Mode | null {
  return MODE_OF_CLASS[productClass] ?? null;
}

export function isWalkClass(productClass: number): boolean {
  return WALK_CLASSES.includes(productClass);
}

/** The classes to exclude from a request so that only the wanted modes remain; empty if all modes are wanted. */
export function toExcludedClasses(modes: readonly Mode[]): number[] {
  return Object.keys(MODE_OF_CLASS)
    .map(Number)
    .filter((productClass) => !modes.includes(MODE_OF_CLASS[productClass] as Mode));
}
