/* What riders may do at a call: bits of its flags. */

export const MAY_BOARD = 1;
export const MAY_ALIGHT = 2;
/** Only riders who have booked may board, or alight. */
export const BOOK_TO_BOARD = 4;
export const BOOK_TO_ALIGHT = 8;
