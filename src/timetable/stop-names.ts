import { isPlatformLabel, labelParts } from '../transit/platform-label.ts';
import { findFerryHub } from './ferry-hubs.ts';

/** As the trip planner says them. */
export interface StopName {
  /** Without suburb and platform */
  name: string;
  /** "Platform 3", "Stand C", "Wharf 4, Side A"; at a station the light rail stop beside it */
  platform: string | null;
}

/** Where the trip planner says otherwise than the files. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  'Circular Quay Station': 'Circular Quay',
  'Domestic Station': 'Domestic Airport Station',
  'International Station': 'International Airport Station',
};

const TAIL_LABELS: readonly string[] = ['Platform', 'Wharf', 'Stand'];
const LIGHT_RAIL = ' Light Rail';
const LIGHT_RAIL_CODE = /^LR\d{1,2}$/;
const NUMBER = /^\d{1,2}$/;

/**
 * Name and platform of a stop: "Central Station" and "Platform 16" of "Central Station Platform 16". `parentName` is the name
 * of its station, as this function makes it; a platform has its station's.
 */
export function splitStopName(
  stop: { id: string; name: string; platformCode: string | null },
  parentName: string | null,
): StopName {
  const parts = stop.name.split(', ').flatMap(splitTail);
  const firstLabel = parts.findIndex((part, index) => index > 0 && isPlatformLabel(part));
  const own = parts.slice(0, firstLabel === -1 ? undefined : firstLabel).join(', ');
  const label = firstLabel === -1 ? null : labelParts(parts.join(', ')).join(', ');
  const hub = findFerryHub(stop.id);
  if (hub) return { name: hub.name, platform: label };
  const name = OTHER_NAMES[own] ?? (label?.startsWith('Wharf ') ? withWharf(own) : own);
  if (parentName === null || parentName === name) return { name, platform: label };
  if (label) return { name: parentName, platform: label };
  // Light rail at a station stops in a street of its own name ("Central Chalmers Street Light Rail").
  if (name.endsWith(LIGHT_RAIL)) return { name: parentName, platform: name };
  const isNumbered = stop.platformCode !== null && NUMBER.test(stop.platformCode);
  return { name: isNumbered ? parentName : name, platform: isNumbered ? `Platform ${stop.platformCode}` : null };
}

/** "Circular Quay" and "Wharf 4" of "Circular Quay Wharf 4"; the code at the end of a light rail stop is dropped. */
function splitTail(part: string): string[] {
  const words = part.split(' ');
  if (words.length > 1 && LIGHT_RAIL_CODE.test(words.at(-1) ?? '')) return [words.slice(0, -1).join(' ')];
  const tail = words.slice(-2).join(' ');
  const isLabelled = words.length > 2 && TAIL_LABELS.includes(words.at(-2) ?? '') && isPlatformLabel(tail);
  return isLabelled ? [words.slice(0, -2).join(' '), tail] : [part];
}

/** The trip planner calls wharves "Manly Wharf, Wharf 1", but "Circular Quay, Wharf 4". */
function withWharf(name: string): string {
  return name === 'Circular Quay' || name.endsWith('Wharf') ? name : `${name} Wharf`;
}
