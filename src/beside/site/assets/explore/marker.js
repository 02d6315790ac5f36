// All markers of the map are made of these.

const L = globalThis.L;

export const LETTERS = { train: 'T', metro: 'M', lightrail: 'L', bus: 'B', coach: 'C', ferry: 'F', schoolbus: 'S' };

export function createMarker({ lat, lng }, element) {
  // The list beside the map is there for the keyboard; fifty markers would be fifty stops of the Tab key.
  const icon = L.divIcon({ className: 'marker', html: element, iconSize: [24, 24] });
  return L.marker([lat, lng], { icon, keyboard: false });
}

/** Leaflet takes strings for markup. */
export function textNode(text, className = '') {
  const span = document.createElement('span');
  span.className = className;
  span.textContent = text;
  return span;
}
