const DATE = /\.[0-3]\d[01]\d{3}(?=\.|$)/;

/**
 * The run's own ID without the date of publication: "SN56.4.N.2.1156" of "SN56.140126.4.N.2.1156". Timetable, feeds and trip
 * planner may have runs of ferries, TrainLink and Newcastle's light rail from different publications. IDs of other runs contain no
 * date.
 */
export function withoutDate(runId: string): string {
  return runId.replace(DATE, '');
}

export function isDated(runId: string): boolean {
  return DATE.test(runId);
}

export function isSameRun(one: string | null, other: string | null): boolean {
  return one === other || (one !== null && other !== null && withoutDate(one) === withoutDate(other));
}

/** The parts of a train's trip ID. TrainLink's diesel trains are also in the file and the feeds of Sydney's trains, under the same number. */
export function parseTrainId(tripId: string): { number: string; isDiesel: boolean } {
  const [number = '', , , , set = ''] = tripId.split('.');
  return { number, isDiesel: /^[NJPX]/.test(set) };
}
