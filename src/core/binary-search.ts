/** The first number from `start` on for which the condition holds, where it holds for all that follow; else `end`. */
export function firstFrom(start: number, end: number, isReached: (at: number) => boolean): number {
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isReached(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
