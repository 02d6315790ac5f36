/** Why there is no timetable, and the seconds until there may be one. `off`: the settings turn it off. */
export type MissingTimetable = { reason: 'off' } | { reason: 'loading' | 'failed'; seconds: number };
