// Stores the view in the page's address, behind the #, which no server receives. It never contains the key.

const CHOICES = ['via', 'pace', 'max_walk', 'min_change', 'prefer', 'booking'];
const VIEWS = ['around', 'search', 'board', 'journey', 'run', 'trip', 'line', 'lines', 'reach'];

/**
 * `view` is one of `{ around: [lat, lng] }`, `{ search: text }`, `{ board: stopId }`, `{ journey: [from, to] }`,
 * `{ run: [runId, stopId, plannedDeparture] }`, `{ trip: journeyId }`, `{ line: lineId }`, `{ lines: stopId }`,
 * `{ reach: [minutes, from] }`, where `from` is a stop ID or a position of two parts.
 * @returns {{ view: object | null, at: object | null, filters: object }}
 */
export function readLink() {
  const given = new URLSearchParams(location.hash.slice(1));
  const [lat, lng, zoom] = (given.get('at') ?? '').split(',').map(Number);
  const kind = VIEWS.find((name) => given.get(name));
  const value = kind && given.get(kind);
  const parts =
    kind === 'around'
      ? value.split(',').map(Number)
      : kind === 'journey'
        ? readEnds(value)
        : kind === 'run' || kind === 'reach'
          ? value.split(',')
          : value;
  return {
    view: kind && (kind !== 'around' || parts.every(Number.isFinite)) ? { [kind]: parts } : null,
    at: [lat, lng, zoom].every(Number.isFinite) && given.get('at') ? { lat, lng, zoom } : null,
    filters: {
      modes: given.get('modes')?.split(',') ?? null,
      date: given.get('date') ?? '',
      time: given.get('time') ?? '',
      arriveBy: given.get('arrive_by') === 'true',
      choices: Object.fromEntries(CHOICES.map((name) => [name, given.get(name) ?? ''])),
      hasVehicles: given.get('vehicles') !== 'off',
    },
  };
}

/** Parses both ends; place IDs contain commas, so each end is encoded separately. */
function readEnds(text) {
  try {
    return text.split(',').map(decodeURIComponent);
  } catch {
    return [];
  }
}

export function writeLink({ view, at, filters }) {
  const [[kind, value]] = Object.entries(view);
  const fields = {
    [kind]: kind === 'journey' ? value.map(encodeURIComponent).join(',') : String(value),
    modes: filters.modes === 'all' ? '' : filters.modes,
    date: filters.date,
    time: filters.time,
    arrive_by: filters.arriveBy ? 'true' : '',
    ...filters.choices,
    vehicles: filters.hasVehicles ? '' : 'off',
    at: `${at.lat.toFixed(5)},${at.lng.toFixed(5)},${at.zoom}`,
  };
  const given = Object.entries(fields).filter(([, text]) => text);
  history.replaceState(null, '', `#${new URLSearchParams(given).toString().replaceAll('%2C', ',')}`);
}
