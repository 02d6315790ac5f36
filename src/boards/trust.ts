import { HOUR_MS, MINUTE_MS } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { MAX_COMPARED, type ModeAgreement } from '../realtime/live-report.ts';
import { type Departure, isCancelled } from '../transit/departure.ts';
import { MODES, type Mode } from '../transit/mode.ts';
import { isSameRun } from '../transit/run-id.ts';

const TRUSTED_SHARE = 0.98;
/** A trusted mode has one board compared in this interval, so at most 96 a day. */
const SAMPLE_EVERY_MS = 15 * MINUTE_MS;
const LOG_EVERY_MS = HOUR_MS;
/** Departures this soon are not compared, because the two sources may disagree about what has left. */
const SETTLED_MS = 5 * MINUTE_MS;

/** One part of the departure monitor's board: all departures of some modes planned within a time range. */
export interface ComparedPage {
  modes: readonly Mode[];
  isPresent: boolean;
  from: number;
  until: number;
  departures: readonly Departure[];
}

/** Decides whether boards of a mode may come from the timetable: only after it has agreed with the departure monitor. */
export class BoardTrust {
  readonly #results = new Map<Mode, { latest: boolean[]; isTrusted: boolean; example: string | null }>();
  /** By stop: modes that the departure monitor shows there and the timetable lacks entirely. */
  readonly #lacking = new Map<string, readonly Mode[]>();
  /** `auto`: a mode is trusted once the sources agree; `on`: every mode is trusted; `off`: none is. */
  readonly mode: 'off' | 'auto' | 'on';
  readonly #now: () => number;
  readonly #log: Log<'info' | 'warn'>;
  readonly #sampledAt = new Map<Mode, number>();
  #loggedAt: number;

  constructor({ mode, now, log }: { mode: BoardTrust['mode']; now: () => number; log: Log<'info' | 'warn'> }) {
    this.mode = mode;
    this.#now = now;
    this.#log = log;
    this.#loggedAt = now();
  }

  isTrusted(mode: Mode): boolean {
    return this.mode === 'on' || (this.mode === 'auto' && (this.#results.get(mode)?.isTrusted ?? false));
  }

  /** The modes that the departure monitor has at this stop and the timetable lacks; null if never compared. */
  lackingAt(stopId: string): readonly Mode[] | null {
    return this.#lacking.get(stopId) ?? null;
  }

  /** Whether a board of these modes is due for a comparison; it then counts as compared. */
  isSampled(modes: readonly Mode[]): boolean {
    const now = this.#now();
    const due = modes.filter((mode) => now >= (this.#sampledAt.get(mode) ?? 0) + SAMPLE_EVERY_MS);
    for (const mode of due) this.#sampledAt.set(mode, now);
    return due.length > 0;
  }

  /** Compares a page of the departure monitor with the timetable's board for the same time. */
  compare(stopId: string, page: ComparedPage, ours: readonly Departure[]): void {
    const from = page.isPresent ? this.#now() + SETTLED_MS : page.from;
    for (const comparedDeparture of comparePage({ ...page, from }, ours)) this.#add(comparedDeparture);
    const has = (departures: readonly Departure[], mode: Mode) =>
      departures.some((departure) => departure.mode === mode);
    const lacking = page.modes.filter((mode) => has(page.departures, mode) && !has(ours, mode));
    this.#lacking.set(stopId, [
      ...(this.lackingAt(stopId) ?? []).filter((mode) => !page.modes.includes(mode)),
      ...lacking,
    ]);
    this.#logHourly();
  }

  report(): Partial<Record<Mode, ModeAgreement>> {
    return Object.fromEntries(
      MODES.flatMap((mode) => {
        const result = this.#results.get(mode);
        if (!result) return [];
        const { latest, isTrusted } = result;
        return [[mode, { compared: latest.length, agreed: latest.filter(Boolean).length, isTrusted }]];
      }),
    );
  }

  #add({ mode, isAgreed, example }: ComparedDeparture): void {
    const result = this.#results.get(mode) ?? { latest: [], isTrusted: false, example: null };
    this.#results.set(mode, result);
    result.latest.push(isAgreed);
    if (result.latest.length > MAX_COMPARED) result.latest.shift();
    if (!isAgreed) result.example = example;
    if (result.latest.length < MAX_COMPARED) return;
    const agreed = result.latest.filter(Boolean).length;
    const isTrusted = agreed >= TRUSTED_SHARE * MAX_COMPARED;
    if (isTrusted === result.isTrusted) return;
    result.isTrusted = isTrusted;
    const line = { mode, agreed, compared: MAX_COMPARED, example: result.example };
    if (isTrusted) this.#log.info(line, 'boards of this mode come from the timetable');
    else
      this.#log.warn(
        line,
        'timetable disagrees with the trip planner: boards of this mode come from the trip planner again',
      );
  }

  #logHourly(): void {
    if (this.#now() < this.#loggedAt + LOG_EVERY_MS) return;
    this.#loggedAt = this.#now();
    const examples = [...this.#results].map(([mode, { example }]) => [mode, example]);
    this.#log.info(
      { agreement: this.report(), examples: Object.fromEntries(examples) },
      'timetable compared with the trip planner',
    );
  }
}

interface ComparedDeparture {
  mode: Mode;
  isAgreed: boolean;
  /** Both versions of the departure as text, for the log. */
  example: string;
}

/** Compares the departures planned within the page's time range. A cancelled run may be missing on either side. */
function comparePage(
  { from, until, modes, departures }: Omit<ComparedPage, 'isPresent'>,
  ours: readonly Departure[],
): ComparedDeparture[] {
  const isWithin = ({ plannedAt, mode }: Departure) => plannedAt >= from && plannedAt < until && modes.includes(mode);
  const left = new Set(ours.filter(isWithin));
  const pairs: [Departure | undefined, Departure | undefined][] = departures.filter(isWithin).map((theirs) => {
    const match = [...left].find((departure) => isSameDeparture(departure, theirs));
    if (match) left.delete(match);
    return [theirs, match];
  });
  for (const ours of left) pairs.push([undefined, ours]);
  return pairs.flatMap(([theirs, ours]) => {
    const departure = (theirs ?? ours) as Departure;
    if (!(theirs && ours) && isCancelled(departure)) return [];
    const isAgreed = theirs !== undefined && ours !== undefined && isSame(ours, theirs);
    return { mode: departure.mode, isAgreed, example: `board ${describe(theirs)}, timetable ${describe(ours)}` };
  });
}

/** Whether both are the same run. A run without live times may have another identifier, or none. */
function isSameDeparture(ours: Departure, theirs: Departure): boolean {
  if (isSameRun(ours.runId, theirs.runId)) return true;
  const isUnnamed = theirs.runId === null && ours.plannedAt === theirs.plannedAt;
  return isUnnamed && ours.route === theirs.route && ours.platform === theirs.platform;
}

function isSame(ours: Departure, theirs: Departure): boolean {
  return ours.plannedAt === theirs.plannedAt && ours.platform === theirs.platform && ours.route === theirs.route;
}

function describe(departure?: Departure): string {
  if (!departure) return 'none';
  const { route, plannedAt, platform, runId } = departure;
  return `${route} ${new Date(plannedAt).toISOString()} ${platform} (${runId})`;
}
