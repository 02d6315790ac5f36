import { readFlag, readName, readNumber, readObject, readStrings, readText } from './field.ts';

/** The line, and the run on it. */
export type Transportation = NonNullable<ReturnType<typeof readTransportation>>;

/** What an answer says about one run and its vehicle. Boards have it with the event, journeys with the line. */
export type VehicleProperties = NonNullable<ReturnType<typeof readVehicleProperties>>;

/** Undefined for what is no object. */
export function readTransportation(value: unknown) {
  const line = readObject(value);
  return (
    line && {
      id: readText(line.id),
      name: readName(line.name),
      disassembledName: readName(line.disassembledName),
      number: readName(line.number),
      product: readProduct(line.product),
      destination: readDestination(line.destination),
      properties: readVehicleProperties(line.properties),
    }
  );
}

/** Undefined for what is no object. */
export function readVehicleProperties(value: unknown) {
  const properties = readObject(value);
  return (
    properties && {
      RealtimeTripId: readText(properties.RealtimeTripId),
      AVMSTripID: readText(properties.AVMSTripID),
      /** Whether the vehicle on this run has a low floor. */
      AVMLowFloorVeh: readFlag(properties.AVMLowFloorVeh),
      /** Whether the timetable plans an accessible vehicle. */
      PlanWheelChairAccess: readFlag(properties.PlanWheelChairAccess),
      /** Of the stop, not of the vehicle; boards only. */
      WheelchairAccess: readFlag(properties.WheelchairAccess),
      attributes: readStrings(properties.attributes),
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

function readDestination(value: unknown) {
  const destination = readObject(value);
  return destination && { name: readName(destination.name) };
}
