const DATE = /\.[0-3]\d[01]\d{3}(?=\.|$)/;

/**
 * The run's ID without its date of publication: "SN56.4.N.2.1156" for "SN56.140126.4.N.2.1156". For ferries, TrainLink and
 * Newcastle's light rail, the timetable, the feeds and the trip planner may use different publications. IDs of other runs contain
 * no date.
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

/**
 * The number and type of train in a trip ID. TrainLink's diesel trains also appear in the file and feeds of Sydney's trains,
 * under the same number.
 */
export function parseTrainId(tripId: string): { number: string; isDiesel: boolean } {
  const [number = '', , , , set = ''] = tripId.split('.');
  return { number, isDiesel: /^[NJPX]/.test(set) };
}
