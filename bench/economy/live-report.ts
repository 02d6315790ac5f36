import type { Answered, Day } from './day.ts';

interface LiveFigures {
  departuresRefused: number;
  /** The age of the oldest response that calls a departure live; 0 when there is none. */
  oldestLiveMs: number;
}

export function liveFiguresOf({ answered }: Day): LiveFigures {
  const departures = ofKind(answered, 'departures');
  return {
    departuresRefused: refusedOf(departures).length,
    oldestLiveMs: departures.reduce((oldest, { isLive, age }) => (isLive ? Math.max(oldest, age ?? 0) : oldest), 0),
  };
}

/** Describes what only days with feeds have. */
export function* describeLiveDay(day: Day): Generator<string> {
  const { answered, polls, positionPolls, looks, followed, boardSources } = day;
  yield '';
  yield `polls of feeds: ${polls} of the calls, ${positionPolls} of these of positions`;
  if (looks.length > 0) {
    const found = looks.filter((count) => count !== null).sort((one, other) => one - other);
    yield `looks at the map: ${looks.length}, ${looks.length - found.length} without positions; vehicles found, median ${found[found.length >> 1]}`;
  }
  if (followed) {
    const { journeys, looks: seen, refused } = followed;
    yield `journeys followed: ${journeys}, looked at ${seen} times, refused ${refused} times`;
  }
  const old = answered.filter(({ isLive, age }) => isLive && (age ?? 0) > 45_000).length;
  yield `oldest live response: ${(liveFiguresOf(day).oldestLiveMs / 1000).toFixed(1)} s; ${old} are older than 45 s`;
  yield `boards of fewer departures than asked for: ${answered.filter(({ isShort }) => isShort).length}`;
  yield 'boards that were not finished already came from';
  const most = [...boardSources].sort(([, one], [, other]) => other - one);
  for (const [source, count] of most) yield `  ${source.padEnd(44)} ${String(count).padStart(8)}`;
}

function ofKind(answered: readonly Answered[], kind: Answered['kind']): Answered[] {
  return answered.filter((one) => one.kind === kind);
}

function refusedOf(answered: readonly Answered[]): Answered[] {
  return answered.filter(({ outcome }) => outcome === 'refused');
}
