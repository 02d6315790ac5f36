import { MAY_ALIGHT, MAY_BOARD } from '../../timetable/import/schedule-file.ts';
import type { Footpaths, Lines } from './lines.ts';

/** The minimum number of rides from a stop, or on a line, to the destination, up to `FAR_STOP` and `FAR_LINE`. */
export interface RidesLeft {
  stops: Uint8Array;
  lines: Uint8Array;
}

const FAR_STOP = 2;
const FAR_LINE = 3;

/** Counts the remaining rides, regardless of times: from the destination backwards, along the lines that lead there. */
export function createRidesLeft(lines: Lines, footpaths: Footpaths) {
  const { firstCall, flags, stops, lineOfRun } = lines;
  /** For each line, the lines that its vehicles served before. */
  let previous = new Map<number, Set<number>>();

  /** Reads the lines again, after they have changed. */
  function refresh(): void {
    const { nextRuns, runCount } = lines;
    previous = new Map();
    for (let run = 0; run < runCount; run++) {
      const next = nextRuns[run] as number;
      if (next < 0) continue;
      const line = lineOfRun[next] as number;
      const previousLines = previous.get(line);
      if (previousLines) previousLines.add(lineOfRun[run] as number);
      else previous.set(line, new Set([lineOfRun[run] as number]));
    }
  }

  function* visitsAt(stop: number): Generator<[line: number, position: number]> {
    for (const { firstVisit, visits } of lines.live ? [lines, lines.live] : [lines]) {
      for (let at = firstVisit[stop] as number; at < (firstVisit[stop + 1] as number); at++) {
        yield [visits[at * 2] as number, visits[at * 2 + 1] as number];
      }
    }
  }

  refresh();
  return { count, refresh };

  function count(destinations: Iterable<number>): RidesLeft {
    const left: RidesLeft = {
      stops: new Uint8Array(lines.stopCount).fill(FAR_STOP),
      lines: new Uint8Array(lines.lineCount).fill(FAR_LINE),
    };
    const nearLines = new Map<number, number>();
    /** Lines whose previous lines are not noted yet. The vehicles of a day may serve thousands, too many for recursion. */
    const through: number[] = [];
    const noteLine = (line: number, end: number) => {
      if ((nearLines.get(line) ?? 0) >= end) return;
      nearLines.set(line, end);
      left.lines[line] = 1;
      through.push(line);
    };
    const ends = [...destinations];
    for (const stop of ends) {
      for (const [line, position] of visitsAt(stop)) {
        if ((flags[(firstCall[line] as number) + position] as number) & MAY_ALIGHT) noteLine(line, position);
      }
    }
    for (let line = through.pop(); line !== undefined; line = through.pop()) {
      for (const other of previous.get(line) ?? []) {
        noteLine(other, (firstCall[other + 1] as number) - (firstCall[other] as number));
      }
    }
    const nearStops: number[] = [];
    const noteStop = (stop: number) => {
      if (left.stops[stop] === 1) return;
      left.stops[stop] = 1;
      nearStops.push(stop);
    };
    for (const [line, end] of nearLines) {
      const first = firstCall[line] as number;
      for (let call = first; call < first + end; call++) {
        if (!((flags[call] as number) & MAY_BOARD)) continue;
        const stop = stops[call] as number;
        noteStop(stop);
        for (let at = footpaths.first[stop] as number; at < (footpaths.first[stop + 1] as number); at++) {
          noteStop(footpaths.targets[at] as number);
        }
      }
    }
    const noteFarther = (line: number) => {
      if ((left.lines[line] as number) <= 2) return;
      left.lines[line] = 2;
      through.push(line);
    };
    for (const stop of nearStops) {
      for (const [line] of visitsAt(stop)) noteFarther(line);
    }
    for (let line = through.pop(); line !== undefined; line = through.pop()) {
      for (const other of previous.get(line) ?? []) noteFarther(other);
    }
    for (const stop of ends) left.stops[stop] = 0;
    return left;
  }
}
