// The explorer: key, stops, board, journeys.
import { ask, keepKey } from './explore-api.js';
import { createMap } from './explore-map.js';
import { showBoard, showError, showJourneys, showStops } from './explore-view.js';

const find = (id) => document.getElementById(id);
const ends = { from: null, to: null };

keepKey(find('key'));
export const map = createMap(find('map'), (lat, lng) => findAround(lat, lng));

find('search').addEventListener('submit', (event) => {
  event.preventDefault();
  attempt('Searching…', async () => {
    const { results } = await ask('stops/search', { q: find('q').value }, find('key').value);
    listStops(results);
  });
});
find('around').addEventListener('click', () => {
  const { lat, lng } = map.middle();
  findAround(lat, lng);
});
find('plan').addEventListener('click', planJourney);
find('swap').addEventListener('click', () => {
  const { from, to } = ends;
  setEnd('from', to);
  setEnd('to', from);
});

function findAround(lat, lng) {
  return attempt('Looking for stops…', async () => {
    const query = { lat: lat.toFixed(6), lng: lng.toFixed(6), radius: 800, limit: 12, modes: 'all' };
    const { stops } = await ask('nearby', query, find('key').value);
    listStops(stops);
  });
}

function listStops(stops) {
  map.clearJourney();
  map.drawStops(stops, showBoardOf);
  showStops(find('stops'), stops, {
    board: showBoardOf,
    from: (stop) => setEnd('from', stop),
    to: (stop) => setEnd('to', stop),
  });
  find('result').replaceChildren();
  say(stops.length === 1 ? '1 stop.' : `${stops.length} stops.`);
}

function showBoardOf(stop) {
  return attempt('Reading the board…', async () => {
    const board = await ask('departures', { stop: stop.stop_id, modes: 'all' }, find('key').value);
    showBoard(find('result'), board);
    bringIntoView();
  });
}

function planJourney() {
  return attempt('Planning…', async () => {
    const plan = await ask('trips', { from: ends.from.stop_id, to: ends.to.stop_id }, find('key').value);
    find('stops').replaceChildren();
    showJourneys(find('result'), plan, (journey) => map.drawJourney(journey));
    map.drawJourney(plan.journeys[0]);
    bringIntoView();
  });
}

function setEnd(end, stop) {
  ends[end] = stop;
  find(end).textContent = stop?.name ?? 'choose a stop';
  find('plan').disabled = !ends.from || !ends.to;
}

/** To where the answer is, for the eye and for the keyboard. */
function bringIntoView() {
  find('result').querySelector('h2')?.focus();
}

async function attempt(text, action) {
  say(text);
  try {
    await action();
    if (find('message').textContent === text) say('');
  } catch (error) {
    showError(find('message'), error);
  }
}

function say(text) {
  find('message').textContent = text;
}
