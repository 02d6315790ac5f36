// The form fields: modes, date and time, and the places of a journey.

import { unfold } from './sheet.js';

const find = (id) => document.getElementById(id);
const boxes = () => [...document.querySelectorAll('#modes input')];
const options = () => [...document.querySelectorAll('#options select')];

/** Returns the filters as query parameters, which the page's address uses too. */
export function readFilters() {
  const chosen = boxes().filter(({ checked }) => checked);
  if (chosen.length === 0) for (const box of boxes()) box.checked = true;
  const isAll = chosen.length === 0 || chosen.length === boxes().length;
  return {
    modes: isAll ? 'all' : chosen.map(({ value }) => value).join(','),
    date: find('date').value.replaceAll('-', ''),
    time: find('time').value.replace(':', ''),
    arriveBy: find('arrive-by').checked,
    choices: {
      ...Object.fromEntries(options().flatMap(({ name, value }) => (value ? [[name, value]] : []))),
      ...(places.via && { via: places.via.stop_id }),
    },
    hasVehicles: find('vehicles')?.checked ?? true,
  };
}

export function writeFilters({ modes, date, time, arriveBy, choices, hasVehicles }) {
  if (modes) for (const box of boxes()) box.checked = modes.includes(box.value);
  find('date').value = date.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3');
  find('time').value = time.replace(/^(\d\d)(\d\d)$/, '$1:$2');
  find('arrive-by').checked = arriveBy;
  if (find('vehicles')) find('vehicles').checked = hasVehicles;
  if (date || time || arriveBy) find('when').open = true;
  if (modes || date || time || arriveBy) unfold('filters');
  for (const option of options()) {
    option.value = choices[option.name] ?? '';
    // A value that the page does not offer selects nothing.
    if (option.selectedIndex < 0) option.value = '';
    if (option.value) openOptions();
  }
  if ((choices.via ?? '') !== (places.via?.stop_id ?? ''))
    setPlace('via', choices.via ? { stop_id: choices.via, name: choices.via } : null);
  if (choices.via) openOptions();
}

function openOptions() {
  unfold('trip');
  find('options').open = true;
}

/** Returns the choices that a search from one place to many takes. */
export function walkingOf({ choices: { pace, max_walk } }) {
  return { ...(pace && { pace }), ...(max_walk && { max_walk }) };
}

/** Returns the date and time parameters; empty for now. */
export function whenOf({ date, time }) {
  return { ...(date && { date }), ...(time && { time }) };
}

/** The places chosen for the journey; null where only text is typed, or nothing. */
const places = { from: null, to: null, via: null };

/** Messages for required fields that are empty. */
const MISSING = { from: 'Enter where the journey starts.', to: 'Enter where the journey ends.' };

export function setPlace(field, stop) {
  find(field).value = stop?.name ?? '';
  keepPlace(field, stop);
}

/** Forgets the chosen place when its text changes. */
export function forgetPlace(field) {
  keepPlace(field, null);
}

function keepPlace(field, stop) {
  places[field] = stop;
  find(field).removeAttribute('aria-invalid');
  find('missing').textContent = '';
}

export function swapEnds() {
  const { from, to } = places;
  const texts = [find('from').value, find('to').value];
  setPlace('from', to);
  setPlace('to', from);
  [find('to').value, find('from').value] = texts;
}

/**
 * Returns the IDs of both ends. A text that was typed without choosing a suggestion is replaced by its first match. If there is
 * no text or no match, shows a message, focuses the field and returns null.
 * @param {(field: string, text: string) => Promise<{ id: string, name: string } | undefined>} findFirst
 */
export async function completeEnds(findFirst) {
  for (const field of ['from', 'to', 'via']) {
    const text = find(field).value.trim();
    if (!text && MISSING[field]) return refuse(field, MISSING[field]);
    if (!text || places[field]) continue;
    const place = await findFirst(field, text);
    // The text has changed meanwhile.
    if (find(field).value.trim() !== text) return null;
    if (!place) return refuse(field, `Nothing matches “${text}”.`);
    setPlace(field, { stop_id: place.id, name: place.name });
  }
  return [places.from.stop_id, places.to.stop_id];
}

function refuse(field, text) {
  find('missing').textContent = text;
  find(field).setAttribute('aria-invalid', 'true');
  // A place on the way is among the options.
  if (field === 'via') openOptions();
  find(field).focus();
  return null;
}
