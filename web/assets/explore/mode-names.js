// Display names of modes and of types of places, for the server's pages and for the explorer in the browser.

/** @type {Readonly<Record<string, string>>} */
export const MODE_NAMES = {
  train: 'Train',
  metro: 'Metro',
  lightrail: 'Light rail',
  bus: 'Bus',
  coach: 'Coach',
  ferry: 'Ferry',
  schoolbus: 'School bus',
  walk: 'Walk',
};

/** @param {readonly string[] | null | undefined} modes unknown for some stops */
export const nameModes = (modes) => (modes ?? []).map((mode) => MODE_NAMES[mode] ?? mode);

/** @type {Readonly<Record<string, string>>} */
const TYPE_NAMES = { stop: 'Stop', poi: 'Place', address: 'Address', street: 'Street', suburb: 'Suburb' };

/** @param {{ type: string, modes?: readonly string[] | null }} place as in the response of `/v1/places/search` */
export const describePlace = ({ type, modes }) => [TYPE_NAMES[type] ?? type, ...nameModes(modes)].join(' · ');
