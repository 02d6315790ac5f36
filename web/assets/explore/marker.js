// Building blocks of all map markers.

const L = globalThis.L;

export const LETTERS = { train: 'T', metro: 'M', lightrail: 'L', bus: 'B', coach: 'C', ferry: 'F', schoolbus: 'S' };

export function createMarker({ lat, lng }, element) {
  // Keyboard users have the list: fifty markers would be fifty tab stops.
  const icon = L.divIcon({ className: 'marker', html: element, iconSize: [24, 24] });
  return L.marker([lat, lng], { icon, keyboard: false });
}

/** Creates an element from text, because Leaflet treats strings as markup. */
export function textNode(text, className = '') {
  const span = document.createElement('span');
  span.className = className;
  span.textContent = text;
  return span;
}
