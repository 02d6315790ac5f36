/*
 * Everything that the sandbox makes up (delays, cancellations, crowding) is a trait: a number that looks random but never
 * changes for the same item. So a vehicle has the same delay on the departure board and in a journey.
 */

/** Returns a 32-bit seed for a text, such as a line's identifier. */
export function seedOf(text: string): number {
  let seed = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) seed = Math.imul(seed ^ text.charCodeAt(i), 0x01000193);
  return mix(seed);
}

/** Derives a new seed from a seed and a whole number. */
export function seedWith(seed: number, number: number): number {
  return mix(seed ^ Math.imul(number | 0, 0x9e3779b1));
}

/** Returns trait number `name` of the item with this seed: at least 0, below 1. */
export function trait(seed: number, name: number): number {
  return (seedWith(seed, name) >>> 0) / 2 ** 32;
}

/** Finalizer of MurmurHash3: every bit of the input affects every bit of the output. */
function mix(number: number): number {
  let n = number;
  n = Math.imul(n ^ (n >>> 16), 0x85ebca6b);
  n = Math.imul(n ^ (n >>> 13), 0xc2b2ae35);
  return n ^ (n >>> 16);
}
