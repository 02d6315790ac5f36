import type { Transportation } from './payload.ts';

/** "T8", "324", "F1". Coaches and school buses have no short name of their own; their number serves. */
export function findRouteName({ disassembledName, number, name }: Transportation): string | null {
  return firstText(disassembledName, number, name);
}

/**
 * "T8 Airport & South Line", "Sydney Buses Network 324". Where the number is only the short name, as for buses, the
 * name says more: network and number.
 */
export function findLineName(transportation: Transportation): string | null {
  const { disassembledName, number, name } = transportation;
  const isShort = number === undefined || number === findRouteName(transportation);
  return isShort ? firstText(name, number, disassembledName) : firstText(number, name);
}

function firstText(...texts: (string | undefined)[]): string | null {
  return texts.map((text) => text?.trim()).find((text) => text) ?? null;
}
