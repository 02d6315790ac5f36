/** The n-th item is picked in proportion to 1 / n. */
const ZIPF_EXPONENT = 1;

/** Random numbers from 0 to 1 (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Picks an index in proportion to its weight. */
export function createPicker(weights: readonly number[]): (random: number) => number {
  const sums: number[] = [];
  for (const weight of weights) sums.push((sums.at(-1) ?? 0) + weight);
  const total = sums.at(-1) ?? 0;
  return (random) => {
    let low = 0;
    let high = sums.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) > random * total) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}

export function zipf(count: number): number[] {
  return Array.from({ length: count }, (_, rank) => 1 / (rank + 1) ** ZIPF_EXPONENT);
}
