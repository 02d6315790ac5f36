import { hash } from 'node:crypto';
import { DAY_MS, SECOND_MS } from '../core/clock.ts';
import { contentOf, type IdSigner } from '../core/signer.ts';
import { invalidParameters } from '../errors/messages.ts';
import { optional, requiredText } from '../transit/parameter.ts';
import { afterDoubleHour, toMinute } from '../transit/time.ts';

/**
 * The boundary between two pages of a list. Rows planned at or after `at` come after the boundary, except those in `shown`. Rows
 * planned earlier come before it, except those in `late`. Only planned times count, because they do not change while someone
 * pages. Times are in milliseconds since 1970.
 */
export interface PageBoundary {
  at: number;
  shown: ReadonlySet<string>;
  /** No row of `shown` is planned later than this. */
  shownUntil: number;
  late: ReadonlySet<string>;
  /** No row of `late` is planned earlier than this. */
  lateFrom: number;
}

/** The position of a page: after a boundary, or before it. */
export interface Cursor extends PageBoundary {
  direction: 'next' | 'prev';
  /** The ID of the list that the cursor belongs to, from `bindingOf`. */
  binding: string;
  /** On lists with `per_route`: how many rows of each route earlier pages showed, by the route's ID. */
  counts: ReadonlyMap<string, number>;
  /** Journeys before the boundary arrive by this time; undefined on boards. */
  arrivesBy?: number | undefined;
}

/** A departure or journey, reduced to what boundaries need. */
export interface PageRow {
  rowId: string;
  plannedAt: number;
}

/** The rows that a page shows, and the known rows that it leaves to other pages. */
interface Part {
  shown: readonly PageRow[];
  left: readonly PageRow[];
  /** Every row planned before this time is known. On a page that looks back: every row planned from this time on. */
  knownUntil: number;
}

/** How far a list reaches after and before the requested time. A search for journeys covers three days. */
const AHEAD_MS = { departures: 2 * DAY_MS, journeys: 3 * DAY_MS };
const BACK_MS = DAY_MS;
/** A cursor with more row IDs would make the header too long. */
const MAX_ROW_IDS = 150;
const ROW_ID_LENGTH = 6;
const COUNT_LENGTH = 2;
const MAX_LENGTH = 3000;
/**
 * Format and direction, binding, `at`; then `shownUntil`, `lateFrom`, the row IDs of `shown` and `late`, `counts` and, for
 * journeys, `arrivesBy`. Times are seconds in base 36. On boards, `at` is the last part if there are no row IDs and counts.
 */
const WRITTEN =
  /^1([np])\.([\w-]{6})\.([0-9a-z]{1,7})(?:\.([0-9a-z]{1,7})\.([0-9a-z]{1,7})\.([\w-]{0,900})\.([\w-]{0,900})\.([\w-]{0,1200})(?:\.([0-9a-z]{1,7}))?)?$/;

/** A short hash that identifies a row, a route or a list. */
export function rowIdOf(text: string): string {
  return hash('sha1', text, 'base64url').slice(0, ROW_ID_LENGTH);
}

/** Identifies the list that a cursor belongs to: the path of its operation, and the stop or the two places. */
export function bindingOf(path: string, ...stops: readonly string[]): string {
  return rowIdOf([path, ...stops].join(' ').toUpperCase());
}

export function isAfterBoundary({ at, shown, late }: PageBoundary, plannedAt: number, rowId: string): boolean {
  return plannedAt >= at ? !shown.has(rowId) : late.has(rowId);
}

const NO_ROWS: ReadonlySet<string> = new Set();

/** Returns the boundary after a page; null if no further row can become known. */
export function boundaryAfter({ shown, left, knownUntil }: Part, before: PageBoundary): PageBoundary | null {
  const isLate = ({ rowId, plannedAt }: PageRow) => plannedAt < before.at && before.late.has(rowId);
  const at = Math.max(
    before.at,
    Math.min(knownUntil, ...left.filter((pageRow) => !isLate(pageRow)).map(({ plannedAt }) => plannedAt)),
  );
  if (!Number.isFinite(at)) return null;
  const lateRows = left.filter(isLate);
  const beyond = shown.filter(({ plannedAt }) => plannedAt >= at);
  const isStillShown = before.shown.size > 0 && before.shownUntil >= at;
  const boundary = {
    at,
    shown: new Set([...(isStillShown ? before.shown : []), ...beyond.map(({ rowId }) => rowId)]),
    shownUntil: Math.max(isStillShown ? before.shownUntil : at, ...beyond.map(({ plannedAt }) => plannedAt)),
    late: new Set(lateRows.map(({ rowId }) => rowId)),
    lateFrom: Math.min(at, ...lateRows.map(({ plannedAt }) => plannedAt)),
  };
  if (shown.length > 0 || at > before.at) return boundary;
  // Inside the repeated hour upstream cannot list anything later, so continue after it.
  const later = afterDoubleHour(at);
  return later > at ? boundaryAt(later) : null;
}

/** Returns the boundary before a page that looks back; null if no further row can become known. */
export function boundaryBefore({ shown, left, knownUntil }: Part, after: PageBoundary): PageBoundary | null {
  const isAhead = ({ rowId, plannedAt }: PageRow) => plannedAt >= after.at && after.shown.has(rowId);
  const at = Math.min(
    after.at,
    Math.max(knownUntil, ...left.filter((pageRow) => !isAhead(pageRow)).map(({ plannedAt }) => plannedAt + SECOND_MS)),
  );
  if (shown.length === 0 && at >= after.at) return null;
  const ahead = left.filter(isAhead);
  const behind = shown.filter(({ plannedAt }) => plannedAt < at);
  const isStillLate = after.late.size > 0 && after.lateFrom < at;
  return {
    at,
    shown: new Set(ahead.map(({ rowId }) => rowId)),
    shownUntil: Math.max(at, ...ahead.map(({ plannedAt }) => plannedAt)),
    late: new Set([...(isStillLate ? after.late : []), ...behind.map(({ rowId }) => rowId)]),
    lateFrom: Math.min(isStillLate ? after.lateFrom : at, ...behind.map(({ plannedAt }) => plannedAt)),
  };
}

/** Returns the boundary before the first page. Late departures on that page may be planned earlier. */
export function firstBoundary({ shown, left }: Part, base: number): PageBoundary {
  const knownRows = [...shown, ...left];
  const minute = toMinute(base);
  const ahead = knownRows.filter(({ plannedAt }) => plannedAt >= minute).map(({ plannedAt }) => plannedAt);
  const at = ahead.length > 0 ? Math.min(...ahead) : minute;
  const lateRows = knownRows.filter(({ plannedAt }) => plannedAt < at);
  return {
    ...boundaryAt(at),
    late: new Set(lateRows.map(({ rowId }) => rowId)),
    lateFrom: Math.min(at, ...lateRows.map(({ plannedAt }) => plannedAt)),
  };
}

export function boundaryAt(at: number): PageBoundary {
  return { at, shown: NO_ROWS, shownUntil: at, late: NO_ROWS, lateFrom: at };
}

/** Returns the signed cursor. Undefined if it is too far from `base` or holds too many row IDs. */
export function writeCursor(cursor: Cursor, base: number, ids: IdSigner): string | undefined {
  const { at, shown, late, counts } = cursor;
  if (!isWithin(cursor, base) || shown.size + late.size + counts.size > MAX_ROW_IDS) return undefined;
  const start = `1${cursor.direction[0]}.${cursor.binding}.${toText(at)}`;
  if (shown.size + late.size + counts.size === 0 && cursor.arrivesBy === undefined) return ids.sign('cursor', start);
  const content = [
    start,
    toText(shown.size > 0 ? cursor.shownUntil : at),
    toText(late.size > 0 ? cursor.lateFrom : at),
    [...shown].join(''),
    [...late].join(''),
    [...counts].map(([rowId, count]) => rowId + count.toString(36).padStart(COUNT_LENGTH, '0')).join(''),
    ...(cursor.arrivesBy === undefined ? [] : [toText(cursor.arrivesBy)]),
  ].join('.');
  return ids.sign('cursor', content);
}

function toText(moment: number): string {
  return Math.floor(moment / SECOND_MS).toString(36);
}

function isWithin({ at, arrivesBy }: Cursor, base: number): boolean {
  const earliest = base - BACK_MS;
  if (arrivesBy === undefined) return at >= earliest && at <= base + AHEAD_MS.departures;
  const isNear = arrivesBy >= at - DAY_MS && arrivesBy <= at + AHEAD_MS.journeys;
  return at >= earliest && at <= base + AHEAD_MS.journeys && arrivesBy >= earliest && isNear;
}

const allowed = 'must be taken unchanged from a `Link` header of this operation';

function parseCursor(text: string): Cursor | null {
  const [, direction, binding = '', start = '', ...rest] =
    (text.length <= MAX_LENGTH && WRITTEN.exec(contentOf(text))) || [];
  const [at, shownUntil, lateFrom] = [start, rest[0] ?? start, rest[1] ?? start].map(
    (moment) => Number.parseInt(moment, 36) * SECOND_MS,
  ) as [number, number, number];
  const [shown = '', late = '', counts = '', arrivesBy] = rest.slice(2);
  const countedLength = ROW_ID_LENGTH + COUNT_LENGTH;
  if (!direction || shown.length % ROW_ID_LENGTH || late.length % ROW_ID_LENGTH || counts.length % countedLength)
    return null;
  if (shownUntil < at || shownUntil > at + DAY_MS || lateFrom > at || lateFrom < at - DAY_MS) return null;
  const routeCounts = chunksOf(counts, countedLength).map(
    (chunk) => [chunk.slice(0, ROW_ID_LENGTH), Number.parseInt(chunk.slice(ROW_ID_LENGTH), 36)] as const,
  );
  if (routeCounts.some(([, count]) => !(count > 0))) return null;
  return {
    direction: direction === 'n' ? 'next' : 'prev',
    binding,
    at,
    shown: new Set(chunksOf(shown, ROW_ID_LENGTH)),
    shownUntil,
    late: new Set(chunksOf(late, ROW_ID_LENGTH)),
    lateFrom,
    counts: new Map(routeCounts),
    ...(arrivesBy !== undefined && { arrivesBy: Number.parseInt(arrivesBy, 36) * SECOND_MS }),
  };
}

function chunksOf(text: string, length: number): string[] {
  return Array.from({ length: text.length / length }, (_, index) => text.slice(index * length, (index + 1) * length));
}

/** A cursor that is well formed. `checkedCursor` parses it and checks its signature. */
export const cursorParameter = optional(
  requiredText(allowed)
    .refine((text) => parseCursor(text) !== null, allowed)
    .meta({ type: 'string', pattern: '^1[np](\\.[\\w-]*){3,8}$', maxLength: MAX_LENGTH }),
  'Pagination cursor from the `Link` header (`rel="next"` or `rel="prev"`). Valid only with the same operation and parameters.',
  '1n.xYkUFA.tisn60.q3Zr0dYh2Jc',
);

/**
 * Parses a cursor. Throws `INVALID_PARAMETER` if it is forged, belongs to another list, or is too far from `base`, the
 * requested time.
 */
export function checkedCursor(
  text: string | undefined,
  { binding, base, ids }: { binding: string; base: number; ids: IdSigner },
): Cursor | null {
  const cursor = text === undefined ? null : parseCursor(text);
  if (text === undefined || !cursor) return null;
  if (!ids.isSigned('cursor', text)) throw wrongCursor(text, allowed);
  if (cursor.binding !== binding)
    throw wrongCursor(text, 'must come from the same operation, with the same stop or places');
  if (!isWithin(cursor, base))
    throw wrongCursor(text, 'is too old or too far from the requested time; start again without it');
  return cursor;
}

function wrongCursor(value: string, problem: string) {
  return invalidParameters([{ parameter: 'cursor', value, allowed: problem }]);
}
