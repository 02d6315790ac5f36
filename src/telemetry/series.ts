type Label = string | number;

/** A value for each combination of up to three labels that has occurred. */
export interface Series<Value> {
  /** The value of the combination, made when it is new. */
  at(first?: Label, second?: Label, third?: Label): Value;
  entries(): { labels: Label[]; value: Value }[];
}

/**
 * Maps within maps: looking up a combination formats nothing, because that would cost more than all other counting. The
 * labels must come from small fixed sets; nothing is ever removed.
 */
export function createSeries<Value>(labelCount: 0 | 1 | 2 | 3, create: () => Value): Series<Value> {
  const root = new Map<Label, Map<Label, Map<Label, Value>>>();

  return {
    at(first = '', second = '', third = '') {
      const seconds = getOrCreate(root, first, createMap<Map<Label, Value>>);
      const thirds = getOrCreate(seconds, second, createMap<Value>);
      return getOrCreate(thirds, third, create);
    },
    entries: () =>
      [...root].flatMap(([first, seconds]) =>
        [...seconds].flatMap(([second, thirds]) =>
          [...thirds].map(([third, value]) => ({ labels: [first, second, third].slice(0, labelCount), value })),
        ),
      ),
  };
}

function getOrCreate<Value>(map: Map<Label, Value>, key: Label, create: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}

function createMap<Value>(): Map<Label, Value> {
  return new Map();
}
