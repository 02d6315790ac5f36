// The explorer: key, stops, board, journeys, vehicles. Each view is a function that fetches and renders; the address stores the
// view.

import { ageText, everyWhileVisible } from '../age.js';
import { keepKey, requestJson } from './api.js';
import { completeEnds, forgetPlace, readFilters, setPlace, swapEnds, walkingOf, whenOf, writeFilters } from './form.js';
import { readLink, writeLink } from './link.js';
import { createMap, SYDNEY } from './map.js';
import { describePlace, nameModes } from './mode-names.js';
import { bringIntoView, coveredHeight, unfold } from './sheet.js';
import { suggest } from './suggest.js';
import {
  backToBoard,
  lastCallOf,
  showBoard,
  showError,
  showJourney,
  showJourneys,
  showLine,
  showLines,
  showNotices,
  showReach,
  showRun,
  showStops,
  tellMore,
} from './view.js';

const REFRESH_MS = 15_000;
/** Longer than for other views, because the departures around a place cost two requests. */
const REFRESH_AROUND_MS = 60_000;
const STOPS_WITH_DEPARTURES = 4;
const DEPARTURES_OF_EACH = 3;
/** The service caches its list of alerts this long. */
const NOTICES_MS = 120_000;
const MOVE_PAUSE_MS = 300;
/** Maximum window sizes that the service accepts, in degrees. */
const WIDEST_OF_STOPS = 0.25;
const WIDEST_OF_VEHICLES = 0.5;
const find = (id) => document.getElementById(id);
let view = null;
let latest = 0;
/** Whether the message is about a failure. */
let hasFailed = false;
let shownResponse = null;
let stopRefreshing = () => {};
let movePause = 0;
let windowShown = '';
/** Alerts of the whole network by ID. */
let notices = new Map();
/** Paths of the last plan's legs, by their ends. */
let paths = new Map();
/** Lines of the runs shown, by ID; null if the timetable lacks them. */
const linesOfRuns = new Map();
/** The ID of the line shown; null: all vehicles. */
let lineShown = null;
let latestVehicles = 0;
/** The query for the vehicles on the map, as JSON; null: no vehicles. */
let vehiclesShown = null;
let vehiclesNote = null;

keepKey(find('key'));
export const map = createMap(find('map'), {
  onClick: (lat, lng) => open({ around: [lat, lng] }),
  onChoose: (stop) => open({ board: stop.stop_id }),
  onFollow: (runId) => open({ run: [runId, '', ''] }),
  onMove: () => {
    if (!view) return;
    saveLink();
    clearTimeout(movePause);
    movePause = setTimeout(() => {
      addStopsInWindow();
      listNotices();
      showVehicles();
    }, MOVE_PAUSE_MS);
  },
  coveredHeight,
});

const ACTIONS = {
  around: listAround,
  search: listFound,
  board: followBoard,
  journey: planJourney,
  run: followRun,
  trip: followJourney,
  line: showLineOnMap,
  lines: listLines,
  reach: showReachOnMap,
};

function open(next) {
  const hidVehicles = lineShown !== null || view?.reach;
  view = next;
  lineShown = null;
  saveLink();
  if (hidVehicles || view.reach) showVehicles();
  return show();
}

function show(options) {
  const [[kind, value]] = Object.entries(view);
  return ACTIONS[kind](value, options);
}

function saveLink() {
  writeLink({ view, at: map.view(), filters: readFilters() });
}

function listAround([lat, lng], options) {
  return attempt('Looking for stops…', options, async () => {
    const place = { lat: lat.toFixed(6), lng: lng.toFixed(6) };
    const query = { ...place, radius: 1000, limit: 50, modes: readFilters().modes };
    const [response, boards] = await Promise.all([
      requestWithKey('nearby', query),
      view?.around ? findNext(query) : new Map(),
    ]);
    return answered(response, ({ stops }) => {
      listStops(stops, { boards, isRefresh: options?.isRefresh });
      if (view?.around) keepRefreshing(REFRESH_AROUND_MS);
    });
  });
}

/** Finds the next departures of the nearest stops, by stop ID; a stop whose board fails has none. */
async function findNext({ lat, lng, radius, modes }) {
  const around = { near: `${lat},${lng}`, radius, max_stops: STOPS_WITH_DEPARTURES };
  const query = { ...around, modes, limit: DEPARTURES_OF_EACH, include: 'ids', ...whenOf(readFilters()) };
  const response = await requestWithKey('boards', query).catch(() => null);
  const boards = response?.body.boards ?? [];
  return new Map(boards.flatMap(({ stop_id, departures }) => (departures ? [[stop_id, departures]] : [])));
}

function listFound(text, options) {
  find('q').value = text;
  return attempt('Searching…', { ...options, target: '#message' }, async () => {
    const [response, lines] = await Promise.all([
      requestWithKey('stops/search', { q: text, near: middle() }),
      findLines({ q: text, limit: 8 }),
    ]);
    const named = lines.filter(({ route }) => route.toLowerCase() === text.trim().toLowerCase());
    // The name of one line alone means that line.
    if (named.length === 1) return () => openLine(named[0].line_id);
    return answered(response, ({ results }) => {
      listStops(results, { isFitted: true });
      if (lines.length > 0) showLines(find('result'), 'Lines', lines, openLine);
      if (results.length === 0 && lines.length > 0) say('');
      else if (results.length === 0) say(`No stop matches “${text}”. Try part of a station’s name.`);
    });
  });
}

function followBoard(stopId, options) {
  return attempt('Reading the board…', options, async () => {
    const filters = readFilters();
    const response = await requestWithKey('departures', {
      stop: stopId,
      modes: filters.modes,
      limit: 20,
      include: 'ids,alert_texts,through',
      ...whenOf(filters),
    });
    return answered(response, (board) => {
      const stop = { stop_id: stopId, name: board.stop_name };
      const toEnd = (end) => () => chooseEnd(end, stop);
      showBoard(find('result'), board, {
        from: toEnd('from'),
        to: toEnd('to'),
        alert: (id) => bringIntoView(find('result').querySelector(`[data-alert="${id}"]`)),
        follow: ({ run_id, scheduled_at }) => open({ run: [run_id, stopId, scheduled_at] }),
        lines: () => open({ lines: stopId }),
        reach: () => open({ reach: [30, stopId] }),
      });
      map.choose(stopId);
      if (!filters.date && !filters.time) keepRefreshing();
    });
  });
}

/** Follows a run; `stopId` and `leavesAt` are those of the chosen departure. */
function followRun([runId, stopId, leavesAt], options) {
  return attempt('Looking for the vehicle…', options, async () => {
    const response = await requestWithKey(`runs/${encodeURIComponent(runId)}`, { include: 'carriages' });
    const line = await lineOf(response.body);
    return answered(response, (run) => {
      showRun(find('result'), run, leavesAt, {
        ...(stopId && { board: () => open({ board: stopId }) }),
        ...(line && { line: () => openLine(line.line_id) }),
        ...(run.next_run_id && { next: () => open({ run: [run.next_run_id, stopId, ''] }) }),
      });
      if (!options?.isRefresh) clearStops();
      const now = Date.parse(run.retrieved_at) + response.ageSeconds * 1000;
      map.drawRun(run, { last: lastCallOf(run), now, line, isFitted: !options?.isRefresh });
      if (run.status !== 'ended') keepRefreshing();
    });
  });
}

/** Finds lines; without a timetable there are none. */
async function findLines(query) {
  const response = await requestWithKey('lines', query).catch(() => null);
  return response?.body.lines ?? [];
}

/** Loads the line of a run once, for its course. */
async function lineOf({ line_id: id }) {
  if (id === null) return null;
  if (!linesOfRuns.has(id)) {
    const response = await requestWithKey(`lines/${id}`, { format: 'geojson' }).catch(() => null);
    linesOfRuns.set(id, response?.body ?? null);
  }
  return linesOfRuns.get(id);
}

function openLine(lineId) {
  return open({ line: lineId });
}

/** Shows a line: its course, its stops and only its own vehicles. */
function showLineOnMap(lineId, options) {
  return attempt('Looking for the line…', options, async () => {
    const { date } = whenOf(readFilters());
    const query = { format: 'geojson', ...(date && { date }) };
    return answered(await requestWithKey(`lines/${encodeURIComponent(lineId)}`, query), (line) => {
      showLine(find('result'), line, ({ stop_id }) => open({ board: stop_id }));
      clearStops();
      lineShown = line.line_id;
      map.drawLine(line);
      showVehicles();
    });
  });
}

function listLines(stopId, options) {
  return attempt('Looking for lines…', options, async () =>
    answered(await requestWithKey('lines', { stop: stopId, modes: readFilters().modes }), ({ lines }) => {
      showLines(find('result'), 'Lines of this stop', lines, openLine);
      find('result').append(backToBoard(() => open({ board: stopId })));
    }),
  );
}

/** Shows the area within reach of a stop or a position. */
function showReachOnMap([minutes, ...place], options) {
  return attempt('Searching the timetable…', options, async () => {
    const filters = readFilters();
    const from = place.join(',');
    const query = { from, minutes, format: 'geojson', modes: filters.modes, ...whenOf(filters), ...walkingOf(filters) };
    return answered(await requestWithKey('reachable', query), (reach) => {
      showReach(find('result'), reach, Number(minutes), {
        choose: (chosen) => open({ reach: [chosen, ...place] }),
        ...(place.length === 1 && { board: () => open({ board: from }) }),
      });
      clearStops();
      map.drawArea(reach);
    });
  });
}

/** Follows a journey. Its response has no paths, so the plan's paths are drawn if available. */
function followJourney(journeyId, options) {
  return attempt('Looking for the journey…', options, async () => {
    const response = await requestWithKey(`trips/${encodeURIComponent(journeyId)}`, {});
    return answered(response, (now) => {
      showJourney(find('result'), now, followed);
      if (!options?.isRefresh) clearStops();
      const legs = now.journey.legs.map((leg) => ({ ...leg, path: paths.get(placeOf(leg)) ?? [] }));
      map.drawJourney({ legs }, { isFitted: !options?.isRefresh });
      if (now.status !== 'ended') keepRefreshing();
    });
  });
}

function followed({ journey_id }) {
  open({ trip: journey_id });
}

const placeOf = ({ origin, destination }) => `${origin.stop_id} ${destination.stop_id}`;

/** Repeats the current view at an interval while the page is visible. */
function keepRefreshing(pause = REFRESH_MS) {
  stopRefreshing();
  stopRefreshing = everyWhileVisible(pause, () => show({ isRefresh: true }));
}

function planJourney([from, to], options) {
  return attempt('Planning…', options, async () => {
    const filters = readFilters();
    const query = {
      from,
      to,
      include: 'ids,alert_texts,access,changes,through',
      ...whenOf(filters),
      ...(filters.arriveBy && { arrive_by: 'true' }),
      ...filters.choices,
    };
    return answered(await requestWithKey('trips', query), (plan) => {
      setPlace('from', plan.origin);
      setPlace('to', plan.destination);
      clearStops();
      paths = new Map(plan.journeys.flatMap(({ legs }) => legs).map((leg) => [placeOf(leg), leg.path]));
      showJourneys(find('result'), plan, { choose: (journey) => map.drawJourney(journey), follow: followed });
      map.drawJourney(plan.journeys[0]);
    });
  });
}

function listStops(stops, { boards = new Map(), isRefresh = false, ...options } = {}) {
  if (!isRefresh) {
    windowShown = '';
    map.setStops(stops, options);
  }
  showStops(find('stops'), stops, boards, {
    board: (stop) => open({ board: stop.stop_id }),
    follow: ({ stop_id }, { run_id, scheduled_at }) => open({ run: [run_id, stop_id, scheduled_at] }),
    from: (stop) => chooseEnd('from', stop),
    to: (stop) => chooseEnd('to', stop),
  });
  say(stops.length === 1 ? '1 stop.' : `${stops.length} stops.`);
}

/** Adds the stops in the map window to those listed, except during a search or journey. */
async function addStopsInWindow() {
  const bbox = map.window(WIDEST_OF_STOPS);
  const requested = `${bbox} ${readFilters().modes}`;
  if (!(view?.around || view?.board) || bbox === null || requested === windowShown) return;
  windowShown = requested;
  const turn = latest;
  const response = await requestWithKey('stops', { bbox, modes: readFilters().modes }).catch(() => null);
  if (response && turn === latest) {
    map.addStops(response.body.stops);
    listNotices();
  } else windowShown = '';
}

/** Shows the vehicles of the line shown, else those in the map window. An unchanged query is sent only when refreshing. */
async function showVehicles({ isRefresh = false } = {}) {
  const box = find('vehicles');
  if (!box || !find('key').value) return;
  // Vehicles would cover the area within reach.
  const isWanted = box.checked && !view?.reach;
  const query = isWanted ? vehiclesQuery() : null;
  const requested = query && JSON.stringify(query);
  if (requested === vehiclesShown && !(isRefresh && requested)) return;
  vehiclesShown = requested;
  latestVehicles += 1;
  const turn = latestVehicles;
  const response = query && (await requestWithKey('vehicles', query).catch((error) => ({ notice: error.message })));
  if (turn !== latestVehicles) return;
  vehiclesNote = response?.notice ?? (isWanted && !query ? 'Zoom in to see vehicles.' : null);
  if (!query) map.vehicles.set([]);
  else if (response.body) map.vehicles.set(response.body.vehicles, reportAgeBy(response));
  tellAge();
}

/** Null if the map window is too wide. */
function vehiclesQuery() {
  if (lineShown) return { line: lineShown };
  const bbox = map.window(WIDEST_OF_VEHICLES);
  return bbox && { bbox, modes: readFilters().modes };
}

/** Returns the age by the service's clock, because the browser's may be wrong. */
function reportAgeBy({ at, ageSeconds, body }) {
  const startedAt = Date.parse(body.retrieved_at) + ageSeconds * 1000 - at;
  return ({ reported_at }) => (startedAt + performance.now() - Date.parse(reported_at)) / 1000;
}

/** Loads the alerts; without them only alert texts are shown. */
async function readNotices() {
  const response = find('key').value && (await requestWithKey('alerts', { limit: 300 }).catch(() => null));
  if (response) notices = new Map(response.body.alerts.map((notice) => [notice.id, notice]));
  tellMore(find('result'), notices);
  listNotices();
}

function listNotices() {
  const inSight = new Set(map.stopsInSight().map(({ stop_id }) => stop_id));
  const isOfThese = ({ stops }) => stops.some(({ stop_id }) => inSight.has(stop_id));
  showNotices(find('notices'), [...notices.values()].filter(isOfThese));
  tellMore(find('notices'), notices);
}

function chooseEnd(end, stop) {
  setPlace(end, stop);
  unfold('trip');
  say(`${end === 'from' ? 'From' : 'To'} ${stop.name}.`);
}

/** Returns the map's centre, rounded so that responses can be shared: the order of matches depends only on kilometres. */
function middle() {
  const { lat, lng } = map.view();
  return `${lat.toFixed(2)},${lng.toFixed(2)}`;
}

const requestWithKey = (path, query) => requestJson(path, query, find('key').value);

/** Shows a response: its result, its JSON and its curl command. */
function answered(response, showBody) {
  return () => {
    shownResponse = response;
    showBody(response.body);
    tellMore(find('result'), notices);
    if (response.notice) say(response.notice);
    find('raw').hidden = false;
    find('curl').textContent = `curl -H "Authorization: Bearer $TIS_KEY" \\\n  "${location.origin}${response.path}"`;
    find('json').textContent = JSON.stringify(response.body, null, 2);
    tellAge();
  };
}

/**
 * Sends a request, shows the response and moves the reader to `target`, unless a newer request was sent meanwhile. A refresh
 * moves nobody. An error clears the old response.
 */
async function attempt(text, { isRefresh = false, movesReader = !isRefresh, target = '#result h2' } = {}, request) {
  latest += 1;
  const turn = latest;
  stopRefreshing();
  if (!isRefresh) say(text);
  try {
    const showResponse = await request();
    if (turn !== latest) return;
    if (!isRefresh || hasFailed) say('');
    hasFailed = false;
    const inUse = document.activeElement?.ariaLabel;
    clearResult();
    showResponse();
    const place = document.querySelector(target);
    if (place && movesReader) bringIntoView(place);
    // Keep the keyboard focus when a refresh replaces what had it.
    if (inUse && document.activeElement === document.body)
      find('panel')
        .querySelector(`[aria-label="${CSS.escape(inUse)}"]`)
        ?.focus({ preventScroll: true });
  } catch (error) {
    if (turn !== latest) return;
    hasFailed = true;
    clearResult();
    if (!view?.board) clearStops();
    showError(find('message'), error);
    const boardOf = view?.run?.[1];
    if (boardOf) find('result').append(backToBoard(() => open({ board: boardOf })));
    if ((view?.board || view?.run || view?.trip) && !(error.status < 500)) keepRefreshing();
  }
}

function clearResult() {
  shownResponse = null;
  find('result').replaceChildren();
  find('raw').hidden = true;
  map.clearJourney();
  map.choose(null);
}

function clearStops() {
  windowShown = '';
  find('stops').replaceChildren();
  map.setStops([]);
}

function tellAge() {
  const note = find('vehicles-note');
  if (note) note.textContent = vehiclesNote ?? (vehiclesShown ? map.vehicles.describe() : '');
  const place = document.querySelector('[data-age]');
  if (!place || !shownResponse) return;
  const seconds = shownResponse.ageSeconds + (performance.now() - shownResponse.at) / 1000;
  place.textContent = `, ${ageText(seconds)} ago`;
}

function optionsChanged() {
  if (!view) return;
  saveLink();
  if (view.journey || view.reach) show({ movesReader: false });
}

function say(text) {
  // An unchanged text is not read out again.
  if (find('message').textContent !== text) find('message').textContent = text;
}

/** Moves to the reader's position, only if requested or already permitted. */
function goToReader({ isQuiet = false } = {}) {
  navigator.geolocation.getCurrentPosition(
    ({ coords }) => {
      map.show({ lat: coords.latitude, lng: coords.longitude, zoom: 16 });
      open({ around: [coords.latitude, coords.longitude] });
    },
    () => isQuiet || say('Your browser does not share your position. Move the map instead.'),
  );
}

/** Finds stops and other places while typing, those near the map's centre first. */
async function findPlaces(text) {
  const { body } = await requestWithKey('places/search', { q: text, limit: 8, near: middle() });
  return body.results.map((place) => ({ ...place, hint: describePlace(place) }));
}

async function findStops(text) {
  const { body } = await requestWithKey('stops/search', { q: text, limit: 8, near: middle() });
  return body.results.map((stop) => ({ id: stop.stop_id, name: stop.name, hint: nameModes(stop.modes).join(' · ') }));
}

/** A journey goes via stops only. */
const findFor = { from: findPlaces, to: findPlaces, via: findStops };

suggest(find('q'), {
  find: findPlaces,
  onChoose({ id, type, name, lat, lng }) {
    find('q').value = name;
    if (lat !== null) map.show({ lat, lng, zoom: 16 });
    if (type === 'stop') open({ board: id });
    else if (lat !== null) open({ around: [lat, lng] });
  },
});
for (const field of ['from', 'to', 'via']) {
  suggest(find(field), {
    find: findFor[field],
    onChoose({ id, name }) {
      setPlace(field, { stop_id: id, name });
      if (field === 'via') optionsChanged();
    },
    submits: true,
  });
  find(field).addEventListener('input', () => forgetPlace(field));
}
find('search').addEventListener('submit', (event) => {
  event.preventDefault();
  open({ search: find('q').value });
});
find('around').addEventListener('click', () => open({ around: [map.view().lat, map.view().lng] }));
find('reach').addEventListener('click', () => {
  const { lat, lng } = map.view();
  open({ reach: [30, lat.toFixed(5), lng.toFixed(5)] });
});
find('here').addEventListener('click', () => goToReader());
find('trip').addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    const ends = await completeEnds(async (field, text) => (await findFor[field](text))[0]);
    if (ends) open({ journey: ends });
  } catch (error) {
    showError(find('message'), error);
  }
});
find('swap').addEventListener('click', () => {
  swapEnds();
  if (view?.journey) clearResult();
  // Ignore a pending response, which is for the other direction.
  latest += 1;
  say('');
});
find('filters').addEventListener('change', () => {
  readFilters();
  if (!view) return;
  saveLink();
  // The reader stays at the filters, perhaps to change another one.
  show({ movesReader: false });
  showVehicles();
});
find('options').addEventListener('change', ({ target }) => {
  // Text that names no stop yet is completed by "Plan".
  if (target.id !== 'via' || !target.value) optionsChanged();
});
find('vehicles')?.addEventListener('change', () => {
  if (view) saveLink();
  showVehicles();
});
everyWhileVisible(REFRESH_MS, () => showVehicles({ isRefresh: true }));
everyWhileVisible(NOTICES_MS, readNotices);
find('copy-link').addEventListener('click', async ({ target }) => {
  await navigator.clipboard.writeText(location.href).catch(() => {});
  target.textContent = 'Link copied';
  setTimeout(() => {
    target.textContent = 'Copy a link to this view';
  }, 2000);
});
setInterval(tellAge, 1000);

async function start() {
  const link = readLink();
  writeFilters(link.filters);
  map.show(link.at ?? SYDNEY);
  if (!find('key').value) {
    find('key-box').open = true;
    say('Enter a key to see stops and boards.');
    return;
  }
  const { lat, lng } = link.at ?? SYDNEY;
  readNotices();
  // A board does not contain its stop's position, so fetch the stops around it too.
  if (link.view?.board) await listAround([lat, lng]);
  await open(link.view ?? { around: [lat, lng] });
  listNotices();
  showVehicles();
  const permission = link.view ? null : await navigator.permissions?.query({ name: 'geolocation' }).catch(() => null);
  if (permission?.state === 'granted') goToReader({ isQuiet: true });
}

addEventListener('hashchange', () => start());
start();
