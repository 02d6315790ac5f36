import type { Transportation } from './response/run.ts';
import { isPlatformLabel } from './stop-point.ts';

/** Streets, and words that only say what kind of place it is: without the suburb, many places are called that. */
const NO_NAME_ALONE =
  /^(Shops|Station|Hospital|School|Wharf|Interchange|Terminus|Park)$|^[^,]*[^\s,] (St|Rd|Ave?|Pde|Dr|Hwy|Ln|La|Cres|Pl|Tce|Blvd|Bvd|Way|Cct|Ct|Cl|Gr|Esp|Pwy|Mwy|Fwy)\b/i;

/** "T8", "324", "F1". Coaches and school buses have no short name; their number stands in for it. */
export function findRouteName({ disassembledName, number, name }: Transportation): string | null {
  return firstText(disassembledName, number, name);
}

/**
 * "T8 Airport & South Line", "Sydney Buses Network 324". Where the number is only the short name, as for buses, the
 * name is taken instead: it has the network and the number.
 */
export function findLineName(transportation: Transportation): string | null {
  const { disassembledName, number, name } = transportation;
  const isShort = number === undefined || number === findRouteName(transportation);
  return isShort ? firstText(name, number, disassembledName) : firstText(number, name);
}

/**
 * What the vehicle shows as its destination. An altered run (extra run, extra stops) has the full name of its last stop
 * instead, suburb included: "Leppington Station, Leppington", "Circular Quay, Sydney". The suburb is dropped where the
 * rest still names the place.
 */
export function findHeadsign({ destination }: Transportation, statuses: readonly string[]): string | null {
  const headsign = firstText(destination?.name);
  const [place, suburb] = splitAtLastComma(headsign ?? '');
  if (!place || !suburb || isPlatformLabel(suburb)) return headsign;
  const isAltered = statuses.some((status) => status.startsWith('EXTRA'));
  const holdsSuburb = ` ${place.toLowerCase()} `.includes(` ${suburb.toLowerCase()} `);
  return holdsSuburb || (isAltered && !NO_NAME_ALONE.test(place)) ? place : headsign;
}

/** "Circular Quay, Sydney" → the two parts. A comma without a blank after it is part of a name. */
function splitAtLastComma(text: string): [string, string] {
  const comma = text.lastIndexOf(',');
  const after = text.slice(comma + 1);
  return comma !== -1 && /^\s/.test(after) ? [text.slice(0, comma).trimEnd(), after.trimStart()] : [text, ''];
}

function firstText(...texts: (string | undefined)[]): string | null {
  return texts.map((text) => text?.trim()).find((text) => text) ?? null;
}
