// Display names of modes, for the server's pages and for the explorer in the browser.

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
