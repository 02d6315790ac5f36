const ON_RAILS = [1, 2, 4];

/**
 * Product classes that a request excludes. `exclMOT_n=1` needs `excludedMeans=checkbox`; other spellings are silently
 * ignored. `excludedMeans=checkbox` alone silently excludes everything on rails.
 */
export function excludedClasses(query: URLSearchParams): ReadonlySet<number> {
  if (query.get('excludedMeans') !== 'checkbox') return new Set();
  const ticked = [...query]
    .map(([name, value]) => (value === '1' ? /^exclMOT_(\d+)$/.exec(name)?.[1] : undefined))
    .filter((number) => number !== undefined)
    .map(Number);
  return new Set(ticked.length > 0 ? ticked : ON_RAILS);
}
