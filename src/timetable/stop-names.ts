import { isPlatformLabel, labelParts } from '../transit/platform-label.ts';
import { findFerryHub } from './ferry-hubs.ts';

/** A stop name as the trip planner writes it. */
export interface StopName {
  /** Without suburb and platform */
  name: string;
  /** "Platform 3", "Stand C", "Wharf 4, Side A"; at a station the light rail stop beside it */
  platform: string | null;
}

/** Names that the trip planner writes differently. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['Circular Quay Station', 'Circular Quay'],
  ['Domestic Station', 'Domestic Airport Station'],
  ['International Station', 'International Airport Station'],
]);

const TAIL_LABELS: readonly string[] = ['Platform', 'Wharf', 'Stand'];
const LIGHT_RAIL = ' Light Rail';
const LIGHT_RAIL_CODE = /^LR\d{1,2}$/;
const NUMBER = /^\d{1,2}$/;

/**
 * Splits "Central Station Platform 16" into "Central Station" and "Platform 16". `parentName` is the station's name as returned
 * by this function; a platform takes its station's name.
 */
export function splitStopName(
  stop: { id: string; name: string; platformCode: string | null },
  parentName: string | null,
): StopName {
  const parts = stop.name.split(', ').flatMap(splitTail);
  const firstLabel = parts.findIndex((part, index) => index > 0 && isPlatformLabel(part));
  const stopName = parts.slice(0, firstLabel === -1 ? undefined : firstLabel).join(', ');
  const label = firstLabel === -1 ? null : labelParts(parts.join(', ')).join(', ');
  const hub = findFerryHub(stop.id);
  if (hub && (parentName ?? hub.name) === hub.name) return { name: hub.name, platform: label };
  const name = OTHER_NAMES.get(stopName) ?? (label?.startsWith('Wharf ') ? withWharf(stopName) : stopName);
  const isNumbered = stop.platformCode !== null && NUMBER.test(stop.platformCode);
  const platform = label ?? (isNumbered ? `Platform ${stop.platformCode}` : null);
  if (parentName === null || parentName === name) return { name, platform };
  if (label) return { name: parentName, platform: label };
  // Light rail at a station may stop in a street with its own name ("Central Chalmers Street Light Rail").
  if (name.endsWith(LIGHT_RAIL)) return { name: parentName, platform: name };
  return { name: isNumbered ? parentName : name, platform };
}

/** Splits "Circular Quay Wharf 4" into "Circular Quay" and "Wharf 4", and drops the code at the end of a light rail stop. */
function splitTail(part: string): string[] {
  const words = part.split(' ');
  if (words.length > 1 && LIGHT_RAIL_CODE.test(words.at(-1) ?? '')) return [words.slice(0, -1).join(' ')];
  const tail = words.slice(-2).join(' ');
  const isLabelled = words.length > 2 && TAIL_LABELS.includes(words.at(-2) ?? '') && isPlatformLabel(tail);
  return isLabelled ? [words.slice(0, -2).join(' '), tail] : [part];
}

/** The trip planner writes "Manly Wharf, Wharf 1", but "Circular Quay, Wharf 4". */
function withWharf(name: string): string {
  return name === 'Circular Quay' || name.endsWith('Wharf') ? name : `${name} Wharf`;
}
