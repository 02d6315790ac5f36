import type { FileId } from '../schedule-files.ts';
import type { Timetable } from '../timetable.ts';
import type { FileState } from './folder.ts';

/** `off`: there is none. `auto`: answers where it has proved right. `on`: answers wherever it can. */
export const TIMETABLE_MODES = ['off', 'auto', 'on'] as const;
export type TimetableMode = (typeof TIMETABLE_MODES)[number];

/** The timetable of the running service, which is replaced while it runs. */
export interface CurrentTimetable {
  /** Null while there is none. What a request has taken stays valid for that request. */
  get(): Timetable | null;
  /** `listener` is called after each replacement, and with the first timetable where that comes later than the call. */
  onChange(listener: (timetable: Timetable) => void): void;
  status(): TimetableStatus;
  close(): Promise<void>;
}

export interface TimetableStatus {
  mode: TimetableMode;
  /** Milliseconds since 1970; null while there is no timetable. */
  importedAt: number | null;
  isUpdating: boolean;
  files: readonly (FileState & { id: FileId })[];
}

/** For a service without a timetable, TIMETABLE=off. */
export const noTimetable: CurrentTimetable = {
  get: () => null,
  onChange() {},
  status: () => ({ mode: 'off', importedAt: null, isUpdating: false, files: [] }),
  close: async () => {},
};
