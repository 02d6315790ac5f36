/**
 * `off`: no feed is polled. `shadow`: feeds are polled and compared with the departure monitor. `on`: boards are made of
 * timetables and feeds.
 */
export const LIVE_MODES = ['off', 'shadow', 'on'] as const;
export type LiveMode = (typeof LIVE_MODES)[number];
