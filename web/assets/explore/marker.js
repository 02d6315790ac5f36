// Building blocks of all map markers.

const L = globalThis.L;

export const LETTERS = { train: 'T', metro: 'M', lightrail: 'L', bus: 'B', coach: 'C', ferry: 'F', schoolbus: 'S' };

export function createMarker({ lat, lng }, element) {
  // Keyboard users have the list: fifty markers would be fifty tab stops.
  return L.marker([lat, lng], { icon: iconOf(element), keyboard: false });
}

export const iconOf = (element) => L.divIcon({ className: 'marker', html: element, iconSize: [24, 24] });

/** The name without the kind of stop, which the marker shows. */
export const nameOnMap = (name) => name.replace(/ (?:Station|Light Rail)$/, '');

/** Creates a name beside a position. */
export function createLabel({ lat, lng }, name, className, pane = 'labels') {
  const icon = L.divIcon({ className: '', html: textNode(nameOnMap(name), `label ${className}`), iconSize: [0, 0] });
  return L.marker([lat, lng], { icon, pane, interactive: false, keyboard: false });
}

/** Creates an element from text, because Leaflet treats strings as markup. */
export function textNode(text, className = '') {
  const span = document.createElement('span');
  span.className = className;
  span.textContent = text;
  return span;
}
