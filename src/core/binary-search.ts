/** Binary search for a monotonic predicate: the first index from `start` on at which it is true; else `end`. */
export function firstFrom(start: number, end: number, isReached: (at: number) => boolean): number {
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isReached(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
