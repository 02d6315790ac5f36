// What the answers look like beside the map. Text goes in as text, never as markup.

/** An element with attributes and children; null children are left out. */
function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== ''));
  return element;
}

export function showStops(place, stops, actions) {
  const button = (label, name, action) =>
    h('button', { type: 'button', class: 'plain', 'aria-label': `${label}: ${name}`, onclick: action }, label);
  const items = stops.map((stop) =>
    h(
      'li',
      {},
      h('strong', {}, stop.name),
      h(
        'span',
        { class: 'hint' },
        [stop.distance_metres === undefined ? stop.suburb : `${stop.distance_metres} m`, ...(stop.modes ?? [])].join(
          ' · ',
        ),
      ),
      h(
        'div',
        { class: 'row' },
        button('Board', stop.name, () => actions.board(stop)),
        button('From', stop.name, () => actions.from(stop)),
        button('To', stop.name, () => actions.to(stop)),
      ),
    ),
  );
  place.replaceChildren(h('ul', { class: 'stops' }, ...items));
}

export function showBoard(place, board) {
  const rows = board.departures.map((departure) =>
    h(
      'tr',
      {},
      h('td', {}, routeBadge(departure)),
      h('td', {}, departure.destination, h('span', { class: 'hint' }, departure.platform ?? '')),
      h(
        'td',
        { class: 'number' },
        h('span', departure.is_live ? { class: 'live' } : {}, leaves(departure.minutes_away)),
      ),
    ),
  );
  const head = ['Route', 'Destination', 'Leaves'].map((title) =>
    h('th', { scope: 'col', class: title === 'Leaves' ? 'number' : '' }, title),
  );
  const table = h('table', {}, h('thead', {}, h('tr', {}, ...head)), h('tbody', {}, ...rows));
  place.replaceChildren(
    h('h2', { tabindex: '-1' }, board.stop_name),
    rows.length > 0 ? table : h('p', {}, 'Nothing leaves.'),
    alertList(board.departures.flatMap(({ alerts }) => alerts)),
  );
}

export function showJourneys(place, plan, onChoose) {
  const choices = plan.journeys.map((journey, index) => {
    const details = h(
      'details',
      { class: 'journey' },
      h('summary', {}, summaryOf(journey)),
      ...journey.legs.map(legOf),
      alertList(journey.legs.flatMap(({ alerts }) => alerts)),
    );
    details.open = index === 0;
    details.addEventListener('toggle', () => {
      if (!details.open) return;
      for (const other of choices) other.open = other === details;
      onChoose(journey);
    });
    return details;
  });
  place.replaceChildren(h('h2', { tabindex: '-1' }, `${plan.origin.name} to ${plan.destination.name}`), ...choices);
}

export function showError(place, error) {
  const link = error.docs ? h('a', { href: error.docs }, error.code) : null;
  place.replaceChildren(h('span', { class: 'notice bad' }, error.message, ' ', link ?? ''));
}

function summaryOf(journey) {
  const from = clock(journey.departs_at_realtime ?? journey.departs_at);
  const until = clock(journey.arrives_at_realtime ?? journey.arrives_at);
  const changes = journey.changes === 1 ? '1 change' : `${journey.changes} changes`;
  return `${from} – ${until} · ${journey.duration_minutes} min · ${changes}`;
}

function legOf(leg) {
  const { origin, destination } = leg;
  const what =
    leg.mode === 'walk'
      ? `Walk ${leg.distance_metres === null ? '' : `${leg.distance_metres} m`}`
      : `to ${leg.direction ?? leg.line_name}`;
  return h(
    'p',
    { class: 'leg-text' },
    leg.mode === 'walk' ? '' : routeBadge(leg),
    ` ${what}`,
    h(
      'span',
      { class: 'hint' },
      `${clock(origin.departs_at_realtime ?? origin.departs_at)} ${stopText(origin)} → ${clock(destination.arrives_at_realtime ?? destination.arrives_at)} ${stopText(destination)}`,
    ),
  );
}

function alertList(alerts) {
  if (alerts.length === 0) return '';
  return h(
    'ul',
    { class: 'alerts', 'aria-label': 'Alerts' },
    ...[...new Set(alerts)].map((alert) => h('li', {}, alert)),
  );
}

function routeBadge({ mode, route }) {
  return h('span', { class: `route ${mode}`, title: mode }, route);
}

const stopText = ({ name, platform }) => [name, platform].filter(Boolean).join(', ');
const leaves = (minutes) => (minutes === 0 ? 'now' : `${minutes} min`);

/** Answers are in UTC; people are in Sydney. */
function clock(timestamp) {
  return new Date(timestamp).toLocaleTimeString('en-AU', {
    timeZone: 'Australia/Sydney',
    hour: '2-digit',
    minute: '2-digit',
    hour12: false,
  });
}
