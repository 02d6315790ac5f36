// The wall display: refreshes its board, updates it every second, and warns when the data is old.
import { ageText } from '../age.js';

const MIN_PAUSE_S = 15;
const MAX_PAUSE_S = 300;
/** Seconds that a response may be late before the board counts as old. */
const LATE_S = 60;
/** Older boards are hidden, because most of their departures have left. */
const TOO_OLD_S = 900;
const MAX_ALERTS = 2;

const find = (id) => document.getElementById(id);
const { stop, token: ownToken } = document.body.dataset;
const token = location.hash.slice(1) || ownToken;
/** The last board; `at` is its arrival by the page's timer, `ageSeconds` its age then. */
let shown = null;
let pauseSeconds = MIN_PAUSE_S;
/** Why there is no newer board; `isFinal` if another attempt would not help. */
let problem = null;
/** The board that the rows show, as text. */
let drawnFrom = '';

const isLight = matchMedia('(prefers-color-scheme: light)');
const KEPT = 'transit-wall-theme';

/** Shows the board light or dark: as chosen on this screen, else as the system is. Storage may be blocked. */
function drawTheme() {
  let chosen = document.documentElement.dataset.theme;
  try {
    chosen ??= localStorage.getItem(KEPT) ?? undefined;
  } catch {}
  if (chosen) document.documentElement.dataset.theme = chosen;
  const isDark = chosen ? chosen === 'dark' : !isLight.matches;
  find('theme').textContent = isDark ? 'Light' : 'Dark';
}

async function refresh() {
  problem = null;
  try {
    const headers = { authorization: `Screen ${token}` };
    const url = `/board/${encodeURIComponent(stop)}/departures${location.search}`;
    const response = await fetch(url, { headers, cache: 'no-cache' });
    const body = await response.json();
    pauseSeconds = pauseAfter(response);
    if (response.ok)
      shown = {
        board: body,
        ageSeconds: Number(response.headers.get('age')),
        at: performance.now(),
      };
    else problem = problemOf(response.status, body.error?.code);
  } catch {
    problem = problemOf(0);
  }
  draw();
  if (problem?.isFinal) return;
  setTimeout(refresh, pauseSeconds * 1000);
}

/** Spreads the key's remaining requests over the rest of the day. */
function pauseAfter({ status, headers }) {
  if (status === 429 || status === 503) return Number(headers.get('retry-after')) || MAX_PAUSE_S;
  const [, left, seconds] = /^"daily";r=(\d{1,9});t=(\d{1,9})/.exec(headers.get('ratelimit') ?? '') ?? [];
  if (!left) return MIN_PAUSE_S;
  const enough = (1.1 * Number(seconds)) / Math.max(1, Number(left));
  return Math.min(MAX_PAUSE_S, Math.max(MIN_PAUSE_S, Math.ceil(enough)));
}

function draw() {
  const now = new Date();
  find('clock').textContent = clock(now);
  find('search').hidden = !problem?.isUnknown;
  if (!shown) return drawNotice(problem?.text);
  const age = shown.ageSeconds + (performance.now() - shown.at) / 1000;
  const isOld = age > Math.max(pauseSeconds, MIN_PAUSE_S) + LATE_S;
  document.body.classList.toggle('old', isOld);
  find('name').textContent = shown.board.stop_name;
  find('age').textContent = `As of ${clock(new Date(shown.board.retrieved_at))}, ${ageText(age)} ago`;
  const serverNow = Date.parse(shown.board.retrieved_at) + age * 1000;
  const isEmpty = drawRows(age > TOO_OLD_S ? [] : shown.board.departures, serverNow) === 0;
  if (isOld && problem?.isFinal) drawNotice(problem.text);
  else if (isOld) drawNotice(`No update since ${clock(new Date(shown.board.retrieved_at))}: times may be wrong.`);
  else drawNotice(isEmpty ? `No departures at ${clock(new Date(serverNow))}.` : null);
}

/** Passers-by read one sentence. The link's owner can see the response in the browser's tools. */
function problemOf(status, code) {
  if (code === 'STOP_NOT_FOUND') return { isFinal: true, isUnknown: true, text: `There is no stop ${stop}.` };
  const fix = 'create a new link on your keys page.';
  if (status === 401 || status === 403) return { isFinal: true, text: `This link no longer works: ${fix}` };
  if (status === 400 || status === 404) return { isFinal: true, text: `This board’s address is wrong: ${fix}` };
  const next = clock(new Date(Date.now() + pauseSeconds * 1000));
  return { isFinal: false, text: `No departures at ${clock(new Date())}: next attempt at ${next}.` };
}

function drawNotice(message) {
  const notice = find('notice');
  notice.hidden = !message;
  if (notice.textContent !== (message ?? '')) notice.textContent = message ?? '';
}

/** Renders departures that have not left, and returns their number. */
function drawRows(departures, serverNow) {
  const left = departures
    .map((departure) => ({
      departure,
      milliseconds: Date.parse(departure.realtime_at ?? departure.scheduled_at) - serverNow,
    }))
    .filter(({ milliseconds }) => milliseconds > -30_000);
  const times = left.map(({ departure, milliseconds }) => leavesText(departure, milliseconds));
  const from = [shown.board.retrieved_at, find('notice').hidden, innerWidth, innerHeight, ...times].join();
  if (from === drawnFrom) return left.length;
  drawnFrom = from;
  const alerts = new Map(left.flatMap(({ departure }) => alertsOf(departure)));
  const alertsIn = (rows) => new Set(rows.flatMap(({ departure }) => alertsOf(departure).map(([id]) => id)));
  const first = [...alertsIn(draw([]))].slice(0, MAX_ALERTS);
  // Alerts take up space, so fewer rows fit; alerts of rows that no longer fit are then omitted.
  const referred = alertsIn(draw(first));
  if (!first.every((id) => referred.has(id))) draw(first.filter((id) => referred.has(id)));
  return left.length;

  /** Returns the departures whose rows fit with these alerts. */
  function draw(shownIds) {
    find('alerts').replaceChildren(...shownIds.map((id) => element('li', '', alerts.get(id))));
    const rows = left.map(({ departure, milliseconds }) => {
      const ids = alertsOf(departure).map(([id]) => id);
      const numbers = shownIds.flatMap((id, index) => (ids.includes(id) ? [index + 1] : []));
      return rowOf(departure, milliseconds, numbers);
    });
    find('rows').replaceChildren(...rows);
    hideCutRows();
    return left.filter((_, index) => !rows[index].hidden);
  }
}

/** Returns alert IDs and texts. Depending on the link, a board has only one of them. */
function alertsOf({ alerts, alert_ids }) {
  const texts = shown.board.alert_texts;
  return texts ? alert_ids.map((id) => [id, texts[id]]) : alerts.map((text) => [text, text]);
}

/** Hides rows that are cut off at the bottom. */
function hideCutRows() {
  const { bottom } = document.querySelector('.rows').getBoundingClientRect();
  for (const row of [...find('rows').children].reverse()) {
    if (row.getBoundingClientRect().bottom > bottom) row.hidden = true;
  }
}

/** Renders a departure; `numbers` refer to its alerts below. */
function rowOf(departure, milliseconds, numbers) {
  const { route, mode, destination, platform, is_live } = departure;
  const badge = element('span', `route ${mode}`, route);
  badge.dataset.line = route;
  const row = element('tr', '');
  const routeCell = element('td', '');
  routeCell.append(badge);
  const destinationCell = element('td', 'destination', destination);
  for (const number of numbers) {
    const mark = element('span', 'mark', String(number));
    mark.title = `Alert ${number}`;
    destinationCell.append(' ', mark);
  }
  row.append(
    routeCell,
    destinationCell,
    element('td', '', platform ?? ''),
    element('td', `number${is_live ? ' live' : ''}`, leavesText(departure, milliseconds)),
  );
  return row;
}

/** Shows minutes, or the time of day from an hour on. */
function leavesText({ realtime_at, scheduled_at }, milliseconds) {
  const minutes = Math.max(0, Math.floor(milliseconds / 60_000));
  if (minutes >= 60) return clock(new Date(realtime_at ?? scheduled_at));
  return minutes === 0 ? 'now' : `${minutes} min`;
}

function element(name, className, text = '') {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

function clock(moment) {
  return moment.toLocaleTimeString('en-AU', {
    timeZone: 'Australia/Sydney',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
}

find('theme').addEventListener('click', ({ target }) => {
  const theme = target.textContent.toLowerCase();
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(KEPT, theme);
  } catch {}
  drawTheme();
});
isLight.addEventListener('change', drawTheme);
find('search').addEventListener('submit', (event) => {
  event.preventDefault();
  location.assign(`/explore#${new URLSearchParams({ search: find('q').value })}`);
});
drawTheme();
if (token) refresh();
else problem = { isFinal: true, text: 'Open this board with a link from your keys page.' };
draw();
setInterval(draw, 1000);
