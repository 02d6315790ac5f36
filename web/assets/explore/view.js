// Renders responses beside the map. Text is inserted as text, never as markup.
import { MODE_NAMES, nameModes } from './mode-names.js';

/** Creates an element with attributes and children; null and empty children are omitted. */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== ''));
  return element;
}

const smallButton = (label, name, action) =>
  h('button', { type: 'button', class: 'plain', 'aria-label': `${label}: ${name}`, onclick: action }, label);

/** Shows stops; `boards` has the next departures of some, by stop ID. */
export function showStops(place, stops, boards, actions) {
  const items = stops.map((stop) => {
    const { stop_id, name, suburb, distance_metres, modes } = stop;
    const where = distance_metres === undefined ? suburb : `${distance_metres} m`;
    const label = h(
      'span',
      {},
      h('strong', {}, name),
      h('span', { class: 'hint' }, [where, ...nameModes(modes)].join(' · ')),
    );
    return h(
      'li',
      {},
      h(
        'div',
        { class: 'stop' },
        h(
          'button',
          { type: 'button', class: 'stop-name', 'aria-label': `Board: ${name}`, onclick: () => actions.board(stop) },
          label,
        ),
        smallButton('From', name, () => actions.from(stop)),
        smallButton('To', name, () => actions.to(stop)),
      ),
      boards.has(stop_id) ? nextDepartures(stop, boards.get(stop_id), actions.follow) : null,
    );
  });
  // Those without departures would push everything else far down.
  const isShown = (_item, index) => boards.size === 0 || boards.has(stops[index].stop_id);
  const more = items.filter((...item) => !isShown(...item));
  const rest = h('details', {}, h('summary', {}, `${more.length} more stops`), h('ul', { class: 'stops' }, ...more));
  place.replaceChildren(h('ul', { class: 'stops' }, ...items.filter(isShown)), more.length > 0 ? rest : '');
}

function nextDepartures(stop, departures, follow) {
  if (departures.length === 0) return h('p', { class: 'hint' }, 'Nothing leaves soon.');
  const items = departures.map((departure) =>
    h(
      'li',
      {},
      lineBadge(departure),
      h(
        'span',
        { class: 'towards' },
        destinationOf(departure, () => follow(stop, departure)),
      ),
      h('span', departure.is_live ? { class: 'live' } : {}, leaves(departure.minutes_away)),
    ),
  );
  return h('ol', { class: 'next', 'aria-label': `Next departures of ${stop.name}` }, ...items);
}

/** Shows a board; its age goes into the element with `data-age`. */
export function showBoard(place, board, actions) {
  const alerts = alertsById(board.departures, board);
  const ids = [...alerts.keys()];
  const rows = board.departures.map((departure) =>
    h(
      'tr',
      {},
      h('td', {}, lineBadge(departure)),
      h(
        'td',
        {},
        destinationOf(departure, actions.follow),
        departure.through_to ? h('span', { class: 'hint' }, ` through to ${departure.through_to}`) : null,
        h('span', { class: 'hint at' }, departure.platform ?? '', ...alertMarks(departure, ids, actions.alert)),
      ),
      h(
        'td',
        { class: 'number' },
        h('span', departure.is_live ? { class: 'live' } : {}, leaves(departure.minutes_away)),
        h('span', { class: 'hint' }, clock(departure.realtime_at ?? departure.scheduled_at)),
      ),
    ),
  );
  const head = ['Route', 'Destination', 'Leaves'].map((title) =>
    h('th', { scope: 'col', class: title === 'Leaves' ? 'number' : '' }, title),
  );
  const table = h('table', {}, h('thead', {}, h('tr', {}, ...head)), h('tbody', {}, ...rows));
  place.replaceChildren(
    h('h2', { tabindex: '-1' }, board.stop_name),
    h('p', { class: 'hint' }, `As of ${clock(board.retrieved_at, true)} in Sydney`, h('span', { 'data-age': '' })),
    h(
      'div',
      { class: 'tools' },
      smallButton('From', board.stop_name, actions.from),
      smallButton('To', board.stop_name, actions.to),
      smallButton('Lines', board.stop_name, actions.lines),
      smallButton('Reach', board.stop_name, actions.reach),
      h('a', { class: 'button plain', href: `/board/${encodeURIComponent(board.stop_id)}` }, 'Wall display'),
    ),
    rows.length > 0 ? table : h('p', {}, 'Nothing leaves.'),
    alertList(alerts),
  );
}

/** Shows lines as buttons. */
export function showLines(place, title, lines, open) {
  const buttons = lines.map(({ line_id, mode, route, name }) =>
    h(
      'button',
      {
        type: 'button',
        class: `route ${mode}`,
        'data-line': route,
        'aria-label': `Line ${name}`,
        title: name,
        onclick: () => open(line_id),
      },
      route,
    ),
  );
  place.replaceChildren(h('h2', { tabindex: '-1' }, title), h('p', { class: 'row lines' }, ...buttons));
}

/** Shows a line with the stops of each direction; each stop opens its board. */
export function showLine(place, line, board) {
  const directions = line.directions.map(({ headsigns, runs, headway_minutes, stops, ...day }, index) => {
    const times =
      runs > 0 ? `${clock(day.first_departure_at)} – ${clock(day.last_departure_at)}` : 'Does not run today';
    const often = headway_minutes === null ? null : `every ${headway_minutes} min`;
    const items = stops.map((stop) =>
      h(
        'li',
        { class: `call ${line.mode}`, 'data-line': line.route },
        h(
          'button',
          { type: 'button', class: 'follow', 'aria-label': `Board: ${stop.name}`, onclick: () => board(stop) },
          stop.name,
        ),
      ),
    );
    return h(
      'details',
      index === 0 ? { open: '' } : {},
      h(
        'summary',
        {},
        `To ${headsigns.join(', ')}`,
        h('span', { class: 'hint' }, [times, often].filter(Boolean).join(', ')),
      ),
      h('ol', { class: 'calls', 'aria-label': `Stops to ${headsigns[0]}` }, ...items),
    );
  });
  place.replaceChildren(
    h('h2', { tabindex: '-1' }, lineBadge(line), ` ${line.name.replace(`${line.route} `, '')}`),
    h('p', { class: 'hint' }, line.operator ?? ''),
    ...directions,
    alertList(new Map(line.alert_ids.map((id, index) => [id, line.alerts[index]]))),
  );
}

/** Shows how many stops are within reach, with a button for each time. */
export function showReach(place, { origin, total }, minutes, { choose, board }) {
  const times = REACH_MINUTES.map((choice) =>
    h(
      'button',
      { type: 'button', class: 'plain', 'aria-pressed': String(choice === minutes), onclick: () => choose(choice) },
      `${choice} minutes`,
    ),
  );
  const name = board ? origin.name : 'this position';
  place.replaceChildren(
    h('h2', { tabindex: '-1' }, `Within ${minutes} minutes of ${name}`),
    h('p', { class: 'row' }, ...times, board ? backToBoard(board) : ''),
    h('p', {}, `${total} stops, including waiting and walking.`),
  );
}

/** Renders the destination, with a link to the run if known. */
function destinationOf(departure, follow) {
  const { route, destination, run_id } = departure;
  if (!run_id) return destination;
  const label = `Follow ${route} to ${destination}, ${clock(departure.realtime_at ?? departure.scheduled_at)}`;
  const attributes = { type: 'button', class: 'follow', 'data-run': run_id, 'aria-label': label };
  return h('button', { ...attributes, onclick: () => follow(departure) }, destination);
}

/** Returns the call where the vehicle is or which it left last; some lines serve a stop twice. */
export function lastCallOf({ calls, last_stop_id, next_stop_id }) {
  const made = (calls ?? []).filter(({ cancelled }) => !cancelled);
  const isLast = ({ stop_id }, index) =>
    stop_id === last_stop_id && (made[index + 1]?.stop_id ?? null) === next_stop_id;
  return made.find(isLast) ?? null;
}

const REACH_MINUTES = [15, 30, 45];

const STATUS = {
  not_started: 'Not started yet',
  ended: 'Has arrived',
  cancelled: 'Does not run',
  unknown: 'Its stops are unknown',
};

/** Shows a run. `leavesAt` is the planned departure at the reader’s stop. */
export function showRun(place, run, leavesAt, actions) {
  const calls = run.calls ?? [];
  const last = calls.indexOf(lastCallOf(run));
  const isAt = run.status === 'at_stop';
  const items = calls.map((call, index) =>
    h(
      'li',
      {
        class: ['call', run.mode, index < last || (index === last && !isAt) ? 'passed' : ''].join(' ').trim(),
        'data-line': run.route,
        ...(isAt && index === last && { 'aria-current': 'step' }),
        ...(call.cancelled && { 'data-cancelled': '' }),
      },
      callOf(call),
      index >= last && call.carriages ? stripOf(call.carriages) : null,
      leavesAt && call.departs_at === leavesAt ? h('span', { class: 'yours' }, 'your stop') : null,
      index === last && !isAt && run.next_stop_id
        ? h('p', { class: 'vehicle', 'aria-current': 'step' }, 'The vehicle is here')
        : null,
    ),
  );
  const where = run.position === null ? STATUS[run.status] : `Now ${run.position}`;
  place.replaceChildren(
    h('h2', { tabindex: '-1' }, lineBadge(run), ` to ${run.destination}`),
    run.through_to ? h('p', {}, `Through to ${run.through_to}`) : '',
    h('p', {}, h('strong', {}, where), run.is_live ? '' : ', by the timetable'),
    h('p', { class: 'hint' }, `As of ${clock(run.retrieved_at, true)} in Sydney`, h('span', { 'data-age': '' })),
    h(
      'p',
      { class: 'row' },
      actions.board
        ? h('button', { type: 'button', class: 'plain', onclick: actions.board }, 'Back to the board')
        : null,
      actions.line ? smallButton('Line', run.route, actions.line) : null,
      actions.next ? h('button', { type: 'button', class: 'plain', onclick: actions.next }, 'Continues as') : null,
    ),
    items.length > 0 ? h('ol', { class: 'calls', 'aria-label': 'Stops in order' }, ...items) : '',
    alertList(new Map(run.alerts.map((text) => [text, text]))),
  );
}

const OCCUPANCIES = { MANY_SEATS: '▁', FEW_SEATS: '▄', STANDING_ONLY: '█' };

/** Returns one character per carriage, front first. */
export function stripText(carriages) {
  return carriages.map(({ occupancy }) => OCCUPANCIES[occupancy] ?? '·').join('');
}

function stripOf(carriages) {
  const words = carriages.map(({ occupancy }) => wordsOf(occupancy ?? 'unknown'));
  const label = `${carriages.length} carriages, front first: ${words.join(', ')}`;
  return h('span', { class: 'carriages', role: 'img', 'aria-label': label, title: label }, stripText(carriages));
}

export function wordsOf(occupancy) {
  return occupancy.toLowerCase().replaceAll('_', ' ');
}

export function backToBoard(open) {
  return h('button', { type: 'button', class: 'plain', onclick: open }, 'Back to the board');
}

function callOf(call) {
  if (call.cancelled) return h('div', {}, h('s', {}, call.name), h('span', { class: 'hint' }, 'does not stop here'));
  const isEnd = call.departs_at === null;
  const planned = isEnd ? call.arrives_at : call.departs_at;
  if (planned === null) return h('div', {}, call.name);
  return endOf(planned, isEnd ? call.arrives_at_realtime : call.departs_at_realtime, call);
}

export function showJourneys(place, plan, actions) {
  const cards = journeyCards(plan.journeys, plan, actions);
  if (cards[0]) cards[0].open = true;
  place.replaceChildren(h('h2', { tabindex: '-1' }, `${plan.origin.name} to ${plan.destination.name}`), ...cards);
}

/** Renders journeys as cards, one open at a time. */
function journeyCards(journeys, texts, { choose = () => {}, follow }) {
  const cards = journeys.map((journey) => {
    const card = h(
      'details',
      { class: 'journey card' },
      h('summary', {}, ...summaryOf(journey)),
      h('ol', { class: 'legs' }, ...legsAndChanges(journey.legs, riskyChanges(journey))),
      journey.journey_id ? smallButton('Follow', `the journey at ${startOf(journey)}`, () => follow(journey)) : null,
      alertList(alertsById(journey.legs, texts)),
    );
    card.addEventListener('toggle', () => {
      if (!card.open) return;
      for (const other of cards) other.open = other === card;
      choose(journey);
    });
    return card;
  });
  return cards;
}

const startOf = ({ departs_at, departs_at_realtime }) => clock(departs_at_realtime ?? departs_at);

const JOURNEY_STATUS = {
  possible: 'On track',
  at_risk: 'A change is at risk',
  missed: 'A change is missed',
  cancelled: 'A ride is cancelled',
  ended: 'Has arrived',
};

/** Shows a followed journey: its status, its legs and changes, and alternatives if it fails. */
export function showJourney(place, { retrieved_at, status, journey, changes, next_journeys: next }, follow) {
  const { legs } = journey;
  const items = legsAndChanges(legs, changes);
  const ends = `${legs[0].origin.name} to ${legs.at(-1).destination.name}`;
  place.replaceChildren(
    h('h2', { tabindex: '-1' }, ends),
    h('p', { class: `change ${status}`, role: 'status' }, h('strong', {}, JOURNEY_STATUS[status])),
    h('p', { class: 'hint' }, `As of ${clock(retrieved_at, true)} in Sydney`, h('span', { 'data-age': '' })),
    h('div', { class: 'row' }, ...summaryOf(journey)),
    h('ol', { class: 'legs', 'aria-label': 'Legs and changes in order' }, ...items),
    alertList(alertsById(legs, textsOf([journey]))),
    next === null ? '' : h('h3', {}, next.length > 0 ? 'Alternatives' : 'No alternative found'),
    ...journeyCards(next ?? [], textsOf(next ?? []), { follow }),
  );
}

/** Returns the changes of a planned journey that are at risk, in the form of those of a followed one. */
function riskyChanges({ change_ratings: ratings = [] }) {
  return ratings.filter(({ rating }) => rating === 'at_risk').map((change) => ({ ...change, status: change.rating }));
}

function legsAndChanges(legs, changes) {
  return legs.flatMap((leg, index) => {
    const change = changes.find((change) => change.leg === index);
    return [legOf(leg), ...(change ? [h('li', { class: `change ${change.status}` }, changeText(change))] : [])];
  });
}

/** Collects alert texts by ID. */
function textsOf(journeys) {
  const legs = journeys.flatMap((journey) => journey.legs);
  const pairs = legs.flatMap(({ alerts, alert_ids }) => alert_ids.map((id, index) => [id, alerts[index]]));
  return { alert_texts: Object.fromEntries(pairs) };
}

function changeText({ name, status, spare_minutes }) {
  if (status === 'missed') return `Change at ${name}: missed`;
  return `Change at ${name}: ${spare_minutes} min to spare${status === 'at_risk' ? ', at risk' : ''}`;
}

export function showError(place, error) {
  const link = error.docs ? h('a', { href: error.docs }, error.code) : null;
  place.replaceChildren(h('span', { class: 'notice bad' }, error.message, ' ', link ?? ''));
}

function summaryOf(journey) {
  const from = clock(journey.departs_at_realtime ?? journey.departs_at);
  const until = clock(journey.arrives_at_realtime ?? journey.arrives_at);
  const changes = journey.changes === 1 ? '1 change' : `${journey.changes} changes`;
  const rides = journey.legs.filter(({ mode }) => mode !== 'walk');
  const live = !journey.is_live ? '' : rides[0].is_live ? ' · live' : ' · partly live';
  const isAtRisk = riskyChanges(journey).length > 0;
  return [
    h('span', {}, `${from} – ${until}`),
    h('span', { class: 'hint' }, `${journey.duration_minutes} min · ${changes}${live}`),
    isAtRisk ? h('span', { class: 'change at_risk' }, JOURNEY_STATUS.at_risk) : '',
    rides.some((ride) => ride.needs_booking) ? h('span', { class: 'hint' }, 'must be booked') : '',
    h('span', { class: 'row' }, ...rides.map(lineBadge)),
  ];
}

function legOf(leg) {
  const { origin, destination } = leg;
  const metres = leg.distance_metres === null ? '' : ` ${leg.distance_metres} m`;
  const what =
    leg.mode === 'walk' ? `Walk${metres}` : h('span', {}, lineBadge(leg), ` to ${leg.direction ?? leg.line_name}`);
  const stops = leg.stops === 1 ? ', 1 stop between' : leg.stops > 1 ? `, ${leg.stops} stops between` : '';
  const attributes = { class: `leg-text ${leg.mode}` };
  if (leg.route) attributes['data-line'] = leg.route;
  return h(
    'li',
    attributes,
    endOf(origin.departs_at, origin.departs_at_realtime, origin),
    h('div', {}, what, h('span', { class: 'hint' }, `${leg.duration_minutes} min${stops}`)),
    leg.through_to ? h('span', { class: 'hint' }, `through to ${leg.through_to}`) : '',
    leg.cancelled ? h('strong', { class: 'bad' }, 'Does not run') : '',
    leg.found === false ? h('span', { class: 'hint' }, 'no longer listed: planned times') : '',
    endOf(destination.arrives_at, destination.arrives_at_realtime, destination),
  );
}

function endOf(planned, realtime, { name, platform }) {
  const isLate = realtime !== null && clock(realtime) !== clock(planned);
  return h(
    'div',
    {},
    h('strong', realtime === null ? {} : { class: 'live' }, clock(realtime ?? planned)),
    isLate ? h('s', { class: 'planned' }, clock(planned)) : '',
    ` ${name}`,
    platform === null ? '' : h('span', { class: 'platform' }, platform),
  );
}

/** Returns all records' alert texts by ID; IDs are the same in every response. */
function alertsById(records, { alert_texts = {} }) {
  return new Map(records.flatMap(({ alert_ids = [] }) => alert_ids).map((id) => [id, alert_texts[id]]));
}

/** Links a departure to its alerts below, by number. */
function alertMarks({ route, destination, alert_ids = [] }, ids, show) {
  return ids.flatMap((id, index) => {
    if (!alert_ids.includes(id)) return [];
    const label = `Alert ${index + 1} of ${route} to ${destination}`;
    return h(
      'button',
      { type: 'button', class: 'alert-mark', 'aria-label': label, onclick: () => show(id) },
      h('span', {}, index + 1),
    );
  });
}

/** Renders alerts as a numbered list with a heading. */
function alertList(alerts, title = alerts.size === 1 ? '1 alert' : `${alerts.size} alerts`) {
  if (alerts.size === 0) return '';
  const items = [...alerts].map(([id, text]) => h('li', { 'data-alert': id, tabindex: '-1' }, text));
  return h('section', { class: 'alerts', 'aria-label': 'Alerts' }, title && h('h3', {}, title), h('ol', {}, ...items));
}

/** Adds details from the alert list to alerts. A run has no alert IDs, so its alerts are matched by text. */
export function tellMore(place, notices) {
  const byText = new Map([...notices.values()].map((notice) => [notice.text, notice]));
  for (const item of place.querySelectorAll('[data-alert]:not([data-told])')) {
    const notice = notices.get(item.dataset.alert) ?? byText.get(item.dataset.alert);
    if (!notice) continue;
    item.dataset.told = '';
    item.append(...moreOf(notice));
  }
}

function moreOf({ url, title, periods }) {
  const ends = periods.map(({ ends_at }) => ends_at);
  const isOpen = ends.length === 0 || ends.includes(null);
  const label = `More about ${title ?? 'this'}`;
  return [
    isOpen ? '' : ` Until ${day(ends.sort().at(-1))}.`,
    url === null ? '' : ' ',
    url === null ? '' : h('a', { href: url, rel: 'noreferrer', 'aria-label': label }, 'More'),
  ];
}

/** Shows alerts of the stops on the map. */
export function showNotices(place, notices) {
  place.hidden = notices.length === 0;
  place.querySelector('summary').textContent =
    notices.length === 1 ? '1 alert for stops on the map' : `${notices.length} alerts for stops on the map`;
  place.querySelector('div').replaceChildren(alertList(new Map(notices.map(({ id, text }) => [id, text])), ''));
}

function lineBadge({ mode, route }) {
  return h('span', { class: `route ${mode}`, title: MODE_NAMES[mode], 'data-line': route }, route);
}

const leaves = (minutes) => (minutes === 0 ? 'now' : `${minutes} min`);

function day(timestamp) {
  return new Date(timestamp).toLocaleDateString('en-AU', {
    timeZone: 'Australia/Sydney',
    weekday: 'short',
    day: 'numeric',
    month: 'long',
  });
}

/** Converts a UTC timestamp to Sydney time. */
function clock(timestamp, withSeconds = false) {
  return new Date(timestamp).toLocaleTimeString('en-AU', {
    timeZone: 'Australia/Sydney',
    hour: '2-digit',
    minute: '2-digit',
    ...(withSeconds && { second: '2-digit' }),
    hourCycle: 'h23',
  });
}
