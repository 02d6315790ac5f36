import type { Position } from './stop.ts';

/** Five decimals: about a metre. */
const PRECISION = 1e5;

/**
 * The path in the encoded polyline format (Google's, precision 5): the differences from point to point as text, five bits
 * a character.
 */
export function encodePolyline(path: readonly Position[]): string {
  let text = '';
  let [lastLat, lastLng] = [0, 0];
  for (const [lat, lng] of path) {
    const [roundLat, roundLng] = [Math.round(lat * PRECISION), Math.round(lng * PRECISION)];
    text += encodeNumber(roundLat - lastLat) + encodeNumber(roundLng - lastLng);
    [lastLat, lastLng] = [roundLat, roundLng];
  }
  return text;
}

/** The sign is the lowest bit; a character that others follow has bit 6 set. 63 makes it printable. */
function encodeNumber(number: number): string {
  let rest = number < 0 ? ~(number << 1) : number << 1;
  let text = '';
  while (rest >= 0x20) {
    text += String.fromCharCode((0x20 | (rest & 0x1f)) + 63);
    rest >>= 5;
  }
  return text + String.fromCharCode(rest + 63);
}
