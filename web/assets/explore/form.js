// The form fields: modes, date and time, and the two ends of a journey.

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
    choices: Object.fromEntries(options().flatMap(({ name, value }) => (value ? [[name, value]] : []))),
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
  for (const option of options()) {
    option.value = choices[option.name] ?? '';
    // A value that the page does not offer selects nothing.
    if (option.selectedIndex < 0) option.value = '';
    if (option.value) find('options').open = true;
  }
}

/** Returns the choices that a search from one place to many takes. */
export function walkingOf({ choices: { pace, max_walk } }) {
  return { ...(pace && { pace }), ...(max_walk && { max_walk }) };
}

/** Returns the date and time parameters; empty for now. */
export function whenOf({ date, time }) {
  return { ...(date && { date }), ...(time && { time }) };
}

const ends = { from: null, to: null };

export function endsOfJourney() {
  return [ends.from?.stop_id, ends.to?.stop_id];
}

export function setEnd(end, stop) {
  find(end).value = stop?.name ?? '';
  keepEnd(end, stop);
}

/** Clears the chosen place when its text changes. */
export function forgetEnd(end) {
  keepEnd(end, null);
}

function keepEnd(end, stop) {
  ends[end] = stop;
  find('plan').disabled = !ends.from || !ends.to;
}

export function swapEnds() {
  const { from, to } = ends;
  setEnd('from', to);
  setEnd('to', from);
}
