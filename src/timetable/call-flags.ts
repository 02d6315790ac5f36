/* What riders may do at a call: bits of its flags. */

export const MAY_BOARD = 1;
export const MAY_ALIGHT = 2;
/** Only riders who have booked may board, or alight. */
export const BOOK_TO_BOARD = 4;
export const BOOK_TO_ALIGHT = 8;

/** The flags for GTFS values of `pickup_type` and `drop_off_type`: 0 regular, 1 none, 2 phone ahead, 3 ask the driver. */
export function toCallFlags(pickup: number, dropOff: number): number {
  const mayUse = (pickup === 1 ? 0 : MAY_BOARD) | (dropOff === 1 ? 0 : MAY_ALIGHT);
  return mayUse | (pickup > 1 ? BOOK_TO_BOARD : 0) | (dropOff > 1 ? BOOK_TO_ALIGHT : 0);
}
