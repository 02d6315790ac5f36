import { isNamedLine } from '../../transit/line-colour.ts';
import { isPlatformLabel } from '../../transit/platform-label.ts';
import { parseFlag, parseIdentifier, parseName, parseNumber, parseObject, parseStrings } from './field.ts';

/** The line, and the run on it. */
export type Transportation = NonNullable<ReturnType<typeof parseTransportation>>;

/** Properties of a run and its vehicle. On boards they are in the event, in journeys in the line. */
export type VehicleProperties = NonNullable<ReturnType<typeof parseVehicleProperties>>;

export function parseTransportation(value: unknown) {
  const line = parseObject(value);
  return (
    line && {
      id: parseIdentifier(line.id),
      name: parseName(line.name),
      disassembledName: parseName(line.disassembledName),
      number: parseName(line.number),
      product: parseProduct(line.product),
      /** The headsign, and the name of the first stop. */
      destination: parseName(parseObject(line.destination)?.name),
      origin: parseName(parseObject(line.origin)?.name),
      iconId: parseNumber(line.iconId),
      properties: parseVehicleProperties(line.properties),
    }
  );
}

export function parseVehicleProperties(value: unknown) {
  const properties = parseObject(value);
  return (
    properties && {
      RealtimeTripId: parseIdentifier(properties.RealtimeTripId),
      AVMSTripID: parseIdentifier(properties.AVMSTripID),
      /** Whether the vehicle on this run has a low floor. */
      AVMLowFloorVeh: parseFlag(properties.AVMLowFloorVeh),
      /** Whether the timetable plans an accessible vehicle. */
      PlanWheelChairAccess: parseFlag(properties.PlanWheelChairAccess),
      /** Access of the stop, not of the vehicle; on boards only. */
      WheelchairAccess: parseFlag(properties.WheelchairAccess),
      attributes: parseStrings(properties.attributes),
      ON_DEMAND_LEG: parseFlag(properties.ON_DEMAND_LEG),
    }
  );
}

/** `id` is the network. Undefined if it is not an object. */
export function parseProduct(value: unknown) {
  const product = parseObject(value);
  return (
    product && {
      class: parseNumber(product.class),
      iconId: parseNumber(product.iconId),
      id: parseNumber(product.id),
    }
  );
}

/**
 * The ID of one run of one vehicle on one day, also used by live feeds. An extra run has only the vehicle system's ID.
 * `tripCode` is not an ID: unrelated extra runs share it.
 */
export function toRunId(...places: (VehicleProperties | undefined)[]): string | null {
  const ids = [...places.map((place) => place?.RealtimeTripId), ...places.map((place) => place?.AVMSTripID)];
  return ids.map((id) => id?.trim()).find((id) => id) ?? null;
}

const ON_DEMAND_CLASS = 10;
/** The icon in older responses, where such a ride has the class of a bus. */
const ON_DEMAND_ICON = 23;
const ON_DEMAND_ATTRIBUTES = ['BOOKINGREQUIRED', 'AREA_ON_DEMAND'];

/** Whether the ride must be booked and has no timetable: its times are indicative, and its route is unknown. */
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
 * Whether the vehicle of a departure is accessible. If nothing is known about the vehicle, the stop's access is used, unless a
 * notice says that some vehicles of the line are not accessible.
 */
export function isWheelchairAccessible(
  {
    properties: event,
    transportation: { properties: run },
  }: {
    properties: VehicleProperties | undefined;
    transportation: Transportation;
  },
  isRestricted: () => boolean,
): boolean {
  return toVehicleAccess(event, run) ?? (event?.WheelchairAccess === true && !isRestricted());
}

/**
 * Whether the vehicle is accessible: known for the vehicle of this run, else planned by the timetable; null if the response has
 * neither.
 */
export function toVehicleAccess(
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

/** Streets, and words for kinds of places: without the suburb, many places share such a name. */
const NO_NAME_ALONE =
  /^(Shops|Station|Hospital|School|Wharf|Interchange|Terminus|Park)$|^[^,]*[^\s,] (St|Rd|Ave?|Pde|Dr|Hwy|Ln|La|Cres|Pl|Tce|Blvd|Bvd|Way|Cct|Ct|Cl|Gr|Esp|Pwy|Mwy|Fwy)\b/i;

/** "T8", "324", "F1". If upstream gives no short name, it is derived from the line's number and ID. */
export function toRouteName(line: Transportation): string | null {
  const { disassembledName, number, name } = line;
  return firstText(disassembledName) ?? toShortName(line) ?? firstText(number, name);
}

/**
 * The first word of the number, if the ID agrees: "T1" for "T1 North Shore & Western Line". Else a known short name, mostly in
 * the ID: "BMT" for the "Blue Mountains Line" with "nsw:02BMT: :H:". After "nsw:", an ID has two digits of upstream's own, three
 * characters of the name padded with zeros, and after a colon its fourth character or a branch of the line.
 */
function toShortName({ id = '', number = '' }: Transportation): string | undefined {
  const [first = '', ...others] = number.trim().split(/\s+/);
  if (others.length === 0) return undefined;
  const [, padded = '', rest = ''] = id.split(':', 3);
  const code = padded.slice(2).replace(/^0{1,2}/, '');
  if (code !== '' && first.startsWith(code)) return first;
  return [`${code}${rest.trim()}`, code, first.toUpperCase()].find(isNamedLine);
}

/**
 * "T8 Airport & South Line", "Sydney Buses Network 324". If the number is only the short name, as for buses, uses the name
 * instead, which has network and number.
 */
export function toLineName(transportation: Transportation): string | null {
  const { disassembledName, number, name } = transportation;
  const isShort = number === undefined || number === toRouteName(transportation);
  return isShort ? firstText(name, number, disassembledName) : firstText(number, name);
}

/**
 * The destination shown on the vehicle. An altered run (extra run, extra stops) has the full name of its last stop instead,
 * including the suburb: "Leppington Station, Leppington", "Circular Quay, Sydney". The suburb is dropped if the rest still
 * identifies the place.
 */
export function toHeadsign({ destination }: Transportation, statuses: readonly string[]): string | null {
  const isAltered = statuses.some((status) => status.startsWith('EXTRA'));
  return withoutSuburb(firstText(destination), isAltered);
}

/** Where the run begins: upstream gives the full name of its first stop. */
export function toOrigin({ origin }: Transportation): string | null {
  return withoutSuburb(firstText(origin), true);
}

/** `isStop`: the text is the full name of a stop. A headsign may contain a comma of its own. */
function withoutSuburb(text: string | null, isStop: boolean): string | null {
  const [place, suburb] = splitAtLastComma(text ?? '');
  if (!place || !suburb || isPlatformLabel(suburb)) return text;
  const holdsSuburb = ` ${place.toLowerCase()} `.includes(` ${suburb.toLowerCase()} `);
  return holdsSuburb || (isStop && !NO_NAME_ALONE.test(place)) ? place : text;
}

/** Splits "Circular Quay, Sydney" into its parts. A comma without a following blank is part of a name. */
function splitAtLastComma(text: string): [string, string] {
  const comma = text.lastIndexOf(',');
  const after = text.slice(comma + 1);
  return comma !== -1 && /^\s/.test(after) ? [text.slice(0, comma).trimEnd(), after.trimStart()] : [text, ''];
}

function firstText(...texts: (string | undefined)[]): string | null {
  return texts.map((text) => text?.trim()).find((text) => text) ?? null;
}
