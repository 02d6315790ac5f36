import { readFlag, readName, readNumber, readNumbers, readObject, readStrings, readText } from './field.ts';

/** Upstream nests platform, stop and locality. A longer chain of parents is not followed. */
const MAX_PARENTS = 10;

type Text = string | undefined;

/** A stop, a platform, a locality or another place. */
export interface StopPoint {
  id: Text;
  name: Text;
  disassembledName: Text;
  type: Text;
  coord: unknown;
  matchQuality: number | undefined;
  isBest: boolean | undefined;
  /** Product classes of the vehicles that stop here. A response has either this list or `productClasses`. */
  modes: readonly number[];
  productClasses: readonly number[];
  properties: ReturnType<typeof readStopPointProperties>;
  parent: StopPoint | undefined;
}

/** The end of a leg. */
export type TimedStopPoint = NonNullable<ReturnType<typeof readTimedStopPoint>>;

/** Undefined for what is no object. */
export function readStopPoint(value: unknown, parents = MAX_PARENTS): StopPoint | undefined {
  const place = readObject(value);
  return (
    place && {
      id: readText(place.id),
      name: readName(place.name),
      disassembledName: readName(place.disassembledName),
      type: readText(place.type),
      coord: place.coord,
      matchQuality: readNumber(place.matchQuality),
      isBest: readFlag(place.isBest),
      modes: readNumbers(place.modes),
      productClasses: readNumbers(place.productClasses),
      properties: readStopPointProperties(place.properties),
      parent: parents > 0 ? readStopPoint(place.parent, parents - 1) : undefined,
    }
  );
}

/** Undefined for what is no object. */
export function readTimedStopPoint(value: unknown) {
  const place = readObject(value);
  const point = readStopPoint(place);
  return (
    place &&
    point && {
      ...point,
      departureTimePlanned: readText(place.departureTimePlanned),
      departureTimeEstimated: readText(place.departureTimeEstimated),
      departureTimeBaseTimetable: readText(place.departureTimeBaseTimetable),
      arrivalTimePlanned: readText(place.arrivalTimePlanned),
      arrivalTimeEstimated: readText(place.arrivalTimeEstimated),
      arrivalTimeBaseTimetable: readText(place.arrivalTimeBaseTimetable),
    }
  );
}

function readStopPointProperties(value: unknown) {
  const properties = readObject(value);
  return (
    properties && {
      stopId: readText(properties.stopId),
      platform: readName(properties.platform),
      platformName: readName(properties.platformName),
      occupancy: readText(properties.occupancy),
      mainLocality: readName(properties.mainLocality),
      realtimeStatus: readStrings(properties.realtimeStatus),
      distance: readNumber(properties.distance),
      STOP_GLOBAL_ID: readText(properties.STOP_GLOBAL_ID),
      STOP_NAME_WITH_PLACE: readName(properties.STOP_NAME_WITH_PLACE),
    }
  );
}
