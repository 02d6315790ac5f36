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
    const text = find('q').value;
    const { results } = await ask('stops/search', { q: text }, find('key').value);
    return () => {
      listStops(results);
      if (results.length === 0) say(`No stop matches “${text}”. Try part of a station’s name.`);
    };
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
  // What is still being asked for belongs to the other direction.
  latest += 1;
  say('');
  clearResult();
});

function findAround(lat, lng) {
  return attempt('Looking for stops…', async () => {
    const query = { lat: lat.toFixed(6), lng: lng.toFixed(6), radius: 800, limit: 12, modes: 'all' };
    const { stops } = await ask('nearby', query, find('key').value);
    return () => listStops(stops);
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
    return () => {
      showBoard(find('result'), board);
      bringIntoView();
    };
  });
}

function planJourney() {
  return attempt('Planning…', async () => {
    const plan = await ask('trips', { from: ends.from.stop_id, to: ends.to.stop_id }, find('key').value);
    return () => {
      find('stops').replaceChildren();
      showJourneys(find('result'), plan, (journey) => map.drawJourney(journey));
      map.drawJourney(plan.journeys[0]);
      bringIntoView();
    };
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

let latest = 0;

/** Asks, then shows what came, unless something newer was asked for meanwhile. An error leaves nothing old beside it. */
async function attempt(text, question) {
  latest += 1;
  const turn = latest;
  say(text);
  try {
    const show = await question();
    if (turn !== latest) return;
    say('');
    show();
  } catch (error) {
    if (turn !== latest) return;
    clearResult();
    showError(find('message'), error);
  }
}

function clearResult() {
  find('result').replaceChildren();
  map.clearJourney();
}

function say(text) {
  find('message').textContent = text;
}
