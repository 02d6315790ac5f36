/** Why there is no timetable, and the seconds until there may be one. `off`: the service runs without. */
export type MissingTimetable = { reason: 'off' } | { reason: 'loading' | 'failed'; seconds: number };
