import { isNamedLine } from '../../transit/line-colour.ts';
import { isPlatformLabel } from '../../transit/platform-label.ts';
import { readFlag, readIdentifier, readName, readNumber, readObject, readStrings } from './field.ts';

/** The line, and the run on it. */
export type Transportation = NonNullable<ReturnType<typeof readTransportation>>;

/** The properties of one run and its vehicle. Boards have them with the event, journeys with the line. */
export type VehicleProperties = NonNullable<ReturnType<typeof readVehicleProperties>>;

/** Undefined for what is no object. */
export function readTransportation(value: unknown) {
  const line = readObject(value);
  return (
    line && {
      id: readIdentifier(line.id),
      name: readName(line.name),
      disassembledName: readName(line.disassembledName),
      number: readName(line.number),
      product: readProduct(line.product),
      destination: readRunEnd(line.destination),
      origin: readRunEnd(line.origin),
      iconId: readNumber(line.iconId),
      properties: readVehicleProperties(line.properties),
    }
  );
}

/** Undefined for what is no object. */
export function readVehicleProperties(value: unknown) {
  const properties = readObject(value);
  return (
    properties && {
      RealtimeTripId: readIdentifier(properties.RealtimeTripId),
      AVMSTripID: readIdentifier(properties.AVMSTripID),
      /** Whether the vehicle on this run has a low floor. */
      AVMLowFloorVeh: readFlag(properties.AVMLowFloorVeh),
      /** Whether the timetable plans an accessible vehicle. */
      PlanWheelChairAccess: readFlag(properties.PlanWheelChairAccess),
      /** This is the access of the stop, not of the vehicle, and on boards only. */
      WheelchairAccess: readFlag(properties.WheelchairAccess),
      attributes: readStrings(properties.attributes),
      ON_DEMAND_LEG: readFlag(properties.ON_DEMAND_LEG),
    }
  );
}

/** `id` is the network. Undefined for what is no object. */
export function readProduct(value: unknown) {
  const product = readObject(value);
  return (
    product && {
      class: readNumber(product.class),
      iconId: readNumber(product.iconId),
      id: readNumber(product.id),
    }
  );
}

function readRunEnd(value: unknown) {
  const end = readObject(value);
  return end && { name: readName(end.name) };
}

/**
 * The identifier of one run of one vehicle on one day, by which live feeds name it too. An extra run has the vehicle
 * system's identifier only. `tripCode` is no identifier: unrelated extra runs share it.
 */
export function findRunId(...places: (VehicleProperties | undefined)[]): string | null {
  const ids = [...places.map((place) => place?.RealtimeTripId), ...places.map((place) => place?.AVMSTripID)];
  return ids.map((id) => id?.trim()).find((id) => id) ?? null;
}

const ON_DEMAND_CLASS = 10;
/** The icon of an older response, in which such a ride has the class of a bus. */
const ON_DEMAND_ICON = 23;
const ON_DEMAND_ATTRIBUTES = ['BOOKINGREQUIRED', 'AREA_ON_DEMAND'];

/** Whether the ride must be booked and has no timetable: its times are indicative, and the way it takes is not known. */
export function isOnDemand({ product, iconId, properties: run }: Transportation, record?: VehicleProperties): boolean {
  const attributes = [...(run?.attributes ?? []), ...(record?.attributes ?? [])];
  return (
    product?.class === ON_DEMAND_CLASS ||
    [product?.iconId, iconId].includes(ON_DEMAND_ICON) ||
    (record?.ON_DEMAND_LEG ?? run?.ON_DEMAND_LEG) === true ||
    ON_DEMAND_ATTRIBUTES.some((name) => attributes.includes(name))
  );
}

/**
 * Whether the vehicle of a departure is accessible. Where nothing is said of the vehicle, the stop stands in for it, unless
 * a notice says that not every vehicle of the line is.
 */
export function isWheelchairAccessible(
  {
    properties: event,
    transportation: { properties: run },
  }: {
    properties: VehicleProperties | undefined;
    transportation: Pick<Transportation, 'properties'>;
  },
  isRestricted: () => boolean,
): boolean {
  return findVehicleAccess(event, run) ?? (event?.WheelchairAccess === true && !isRestricted());
}

/**
 * Whether the vehicle is accessible: by what is known of the vehicle on this run, else by what the timetable plans; null
 * where the response says neither.
 */
export function findVehicleAccess(
  record: VehicleProperties | undefined,
  run: VehicleProperties | undefined,
): boolean | null {
  const attributes = [...(run?.attributes ?? []), ...(record?.attributes ?? [])];
  const hasAttribute = (name: string) => (attributes.includes(name) ? true : undefined);
  return (
    record?.AVMLowFloorVeh ??
    run?.AVMLowFloorVeh ??
    hasAttribute('AVM_LOWFLOORVEHICLE') ??
    record?.PlanWheelChairAccess ??
    run?.PlanWheelChairAccess ??
    hasAttribute('PLAN_WHEELCHAIRACCESS') ??
    null
  );
}

/** Streets, and words that only say what kind of place it is: without the suburb, many places are called that. */
const NO_NAME_ALONE =
  /^(Shops|Station|Hospital|School|Wharf|Interchange|Terminus|Park)$|^[^,]*[^\s,] (St|Rd|Ave?|Pde|Dr|Hwy|Ln|La|Cres|Pl|Tce|Blvd|Bvd|Way|Cct|Ct|Cl|Gr|Esp|Pwy|Mwy|Fwy)\b/i;

/** "T8", "324", "F1". Where upstream gives no short name, it is looked for in the number and the identifier of the line. */
export function findRouteName(line: Transportation): string | null {
  const { disassembledName, number, name } = line;
  return firstText(disassembledName) ?? findShortName(line) ?? firstText(number, name);
}

/**
 * "T1" of "T1 North Shore & Western Line", "BMT" of the "Blue Mountains Line" with the identifier "nsw:02BMT: :H:": the first
 * word, where the identifier agrees, else a known name. An identifier has two digits of upstream's own, three characters of
 * the name padded with zeros, and after a colon its fourth character or a branch of the line.
 */
function findShortName({ id = '', number = '' }: Transportation): string | undefined {
  const [first = '', ...others] = number.trim().split(/\s+/);
  if (others.length === 0) return undefined;
  const [, padded = '', rest = ''] = id.split(':', 3);
  const code = padded.slice(2).replace(/^0{1,2}/, '');
  if (code !== '' && first.startsWith(code)) return first;
  return [`${code}${rest.trim()}`, code, first.toUpperCase()].find(isNamedLine);
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
 * The destination that the vehicle shows. An altered run (extra run, extra stops) has the full name of its last stop
 * instead, suburb included: "Leppington Station, Leppington", "Circular Quay, Sydney". The suburb is dropped where the
 * rest still names the place.
 */
export function findHeadsign({ destination }: Transportation, statuses: readonly string[]): string | null {
  const isAltered = statuses.some((status) => status.startsWith('EXTRA'));
  return withoutSuburb(firstText(destination?.name), isAltered);
}

/** The place where the run begins: upstream gives the full name of its first stop. */
export function findOrigin({ origin }: Transportation): string | null {
  return withoutSuburb(firstText(origin?.name), true);
}

/** `isStop` says that the text is the full name of a stop; a headsign may hold a comma of its own. */
function withoutSuburb(text: string | null, isStop: boolean): string | null {
  const [place, suburb] = splitAtLastComma(text ?? '');
  if (!place || !suburb || isPlatformLabel(suburb)) return text;
  const holdsSuburb = ` ${place.toLowerCase()} `.includes(` ${suburb.toLowerCase()} `);
  return holdsSuburb || (isStop && !NO_NAME_ALONE.test(place)) ? place : text;
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
