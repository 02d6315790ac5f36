/*
 * The map in cells of neighbouring stops, with the least time from each cell to each other one. Journey searches use it as a lower
 * bound of the time that is left. The times count the rides, and the walks and changes between them, but no waiting.
 */

/** The limit of cells. More cells give closer bounds, but the import takes longer: its time grows with their number. */
export const MOST_CELLS = 512;
/** The unit of the times. They are rounded down to it, so that they remain lower bounds. */
export const CELL_UNIT_SECONDS = 30;
/** Longer times, and those to cells that are never reached, count as this. */
export const LONGEST_UNITS = 255;
/** The change between two rides that the times include. For searches with shorter changes they are no lower bounds. */
export const CELL_CHANGE_SECONDS = 120;

/** The sections of the timetable about the cells. */
export interface MapCells {
  /** The cell of each stop. */
  stopCell: Uint16Array;
  /**
   * For each two cells, the least units from a ride that calls in the first one, or can be boarded there, to alighting in the
   * other. Those to cell `n` are the entries from `n` times the number of cells.
   */
  cellUnits: Uint8Array;
}
