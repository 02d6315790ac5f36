import { z } from 'zod';
import { oneOf, withDefault } from './parameter.ts';
import { field } from './schema.ts';

/** Rides that must be booked, and the notice for their riders. */

export const bookingParameter = withDefault(
  oneOf(['include', 'exclude']),
  'include',
  '`exclude` leaves out rides that must be booked, such as most coaches and country trains of NSW TrainLink. Such rides have a notice in `alerts`, and `needs_booking` with `include=access`.',
);

export const needsBookingField = field(
  z.boolean().optional(),
  'Whether the ride must be booked; false on a walk. Only with `include=access`',
);

const ON_DEMAND = 'On demand: this ride must be booked, and its times and places are indicative.';
const BOOKED = 'This ride must be booked before you travel.';

/** Returns the alert texts with those about booking first. If upstream has none, adds our own. */
export function withBookingNotice(texts: readonly string[], { isOnDemand }: { isOnDemand: boolean }): string[] {
  const saysSo = (text: string) => /\bbook/i.test(text);
  const notes = texts.filter(saysSo);
  const own = isOnDemand ? ON_DEMAND : BOOKED;
  return notes.length > 0 ? [...notes, ...texts.filter((text) => !saysSo(text))] : [own, ...texts];
}
