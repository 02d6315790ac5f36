import { hash } from 'node:crypto';
import { DAY_MS, SECOND_MS } from '../core/clock.ts';
import { contentOf, type IdSigner } from '../core/signer.ts';
import { invalidParameters } from '../errors/messages.ts';
import { describe, optional, requiredText } from '../transit/parameter.ts';
import { afterDoubleHour, startOfMinute } from '../transit/time.ts';

/**
 * A cut of a list in two. Whatever is planned from `at` on comes after the cut, except what was shown before it (`shown`);
 * of what is planned earlier only that comes after it which was not (`late`). All by planned times, which do not change while
 * somebody reads on. Moments in milliseconds since 1970.
 */
export interface Cut {
  at: number;
  shown: ReadonlySet<string>;
  /** Nothing of `shown` is planned later. */
  shownUntil: number;
  late: ReadonlySet<string>;
  /** Nothing of `late` is planned earlier. */
  lateFrom: number;
}

/** A page of a list that goes on from a cut: what comes after it, or before it. */
export interface Cursor extends Cut {
  direction: 'next' | 'prev';
  /** The list that was cut, by `bindingOf`. */
  binding: string;
  /** How many of each route, by its mark, are shown already; on lists with `per_route`. */
  counts: ReadonlyMap<string, number>;
  /** Journeys that come before the cut arrive by this moment; undefined on boards. */
  arrivesBy?: number | undefined;
}

/** A departure or journey, as cuts see it. */
export interface Marked {
  mark: string;
  plannedAt: number;
}

/** The part of a list that a page shows, and the part that it leaves for others. */
interface Part {
  shown: readonly Marked[];
  left: readonly Marked[];
  /** Everything planned before this moment is known, of a page that looks back everything from it on. */
  knownUntil: number;
}

/** A list can be followed so far ahead of the moment asked for, and so far back. */
const AHEAD_MS = 2 * DAY_MS;
const BACK_MS = DAY_MS;
/** More marks than this are not written: the header would be too long. */
const MAX_MARKS = 150;
const MARK_LENGTH = 6;
const COUNT_LENGTH = 2;
const MAX_LENGTH = 3000;
/** Form and direction, binding, moments in seconds to the base 36, marks, counts, and of journeys one more moment. */
const WRITTEN =
  /^1([np])\.([\w-]{6})\.([0-9a-z]{1,7})\.([0-9a-z]{1,7})\.([0-9a-z]{1,7})\.([\w-]{0,900})\.([\w-]{0,900})\.([\w-]{0,1200})(?:\.([0-9a-z]{1,7}))?$/;

/** A short name for what a cursor has to recognise. */
export function markOf(text: string): string {
  return hash('sha1', text, 'base64url').slice(0, MARK_LENGTH);
}

/** The list of an operation that a cursor goes on in: its path, and the stop or the two places. */
export function bindingOf(path: string, ...stops: readonly string[]): string {
  return markOf([path, ...stops].join(' ').toUpperCase());
}

export function isAfterCut({ at, shown, late }: Cut, plannedAt: number, mark: string): boolean {
  return plannedAt >= at ? !shown.has(mark) : late.has(mark);
}

const NO_MARKS: ReadonlySet<string> = new Set();

/** The cut after a page. Null where nothing would become known by going on. */
export function cutAfter({ shown, left, knownUntil }: Part, before: Cut): Cut | null {
  const isLate = ({ mark, plannedAt }: Marked) => plannedAt < before.at && before.late.has(mark);
  const at = Math.max(
    before.at,
    Math.min(knownUntil, ...left.filter((one) => !isLate(one)).map(({ plannedAt }) => plannedAt)),
  );
  if (!Number.isFinite(at)) return null;
  const late = left.filter(isLate);
  const beyond = shown.filter(({ plannedAt }) => plannedAt >= at);
  const isStillShown = before.shown.size > 0 && before.shownUntil >= at;
  const cut = {
    at,
    shown: new Set([...(isStillShown ? before.shown : []), ...beyond.map(({ mark }) => mark)]),
    shownUntil: Math.max(isStillShown ? before.shownUntil : at, ...beyond.map(({ plannedAt }) => plannedAt)),
    late: new Set(late.map(({ mark }) => mark)),
    lateFrom: Math.min(at, ...late.map(({ plannedAt }) => plannedAt)),
  };
  if (shown.length > 0 || at > before.at) return cut;
  // Upstream lists no more of an hour that comes twice.
  const later = afterDoubleHour(new Date(at)).getTime();
  return later > at ? cutAt(later) : null;
}

/** The cut before a page that looks back. Null where nothing would become known by going on. */
export function cutBefore({ shown, left, knownUntil }: Part, after: Cut): Cut | null {
  const isAhead = ({ mark, plannedAt }: Marked) => plannedAt >= after.at && after.shown.has(mark);
  const at = Math.min(
    after.at,
    Math.max(knownUntil, ...left.filter((one) => !isAhead(one)).map(({ plannedAt }) => plannedAt + SECOND_MS)),
  );
  if (shown.length === 0 && at >= after.at) return null;
  const ahead = left.filter(isAhead);
  const behind = shown.filter(({ plannedAt }) => plannedAt < at);
  const isStillLate = after.late.size > 0 && after.lateFrom < at;
  return {
    at,
    shown: new Set(ahead.map(({ mark }) => mark)),
    shownUntil: Math.max(at, ...ahead.map(({ plannedAt }) => plannedAt)),
    late: new Set([...(isStillLate ? after.late : []), ...behind.map(({ mark }) => mark)]),
    lateFrom: Math.min(isStillLate ? after.lateFrom : at, ...behind.map(({ plannedAt }) => plannedAt)),
  };
}

/** The cut before the first page, on which late departures are planned earlier than it begins. */
export function firstCut({ shown, left }: Part, base: number): Cut {
  const known = [...shown, ...left];
  const minute = startOfMinute(new Date(base)).getTime();
  const ahead = known.filter(({ plannedAt }) => plannedAt >= minute).map(({ plannedAt }) => plannedAt);
  const at = ahead.length > 0 ? Math.min(...ahead) : minute;
  const late = known.filter(({ plannedAt }) => plannedAt < at);
  return {
    ...cutAt(at),
    late: new Set(late.map(({ mark }) => mark)),
    lateFrom: Math.min(at, ...late.map(({ plannedAt }) => plannedAt)),
  };
}

export function cutAt(at: number): Cut {
  return { at, shown: NO_MARKS, shownUntil: at, late: NO_MARKS, lateFrom: at };
}

/** Undefined beyond how far the list can be followed from `base`, and where it would take too many marks. */
export function writeCursor(cursor: Cursor, base: number, ids: IdSigner): string | undefined {
  const { at, shown, late, counts } = cursor;
  if (!isWithin(cursor, base) || shown.size + late.size + counts.size > MAX_MARKS) return undefined;
  const moments = [at, shown.size > 0 ? cursor.shownUntil : at, late.size > 0 ? cursor.lateFrom : at];
  const content = [
    `1${cursor.direction[0]}`,
    cursor.binding,
    ...moments.map(toText),
    [...shown].join(''),
    [...late].join(''),
    [...counts].map(([mark, count]) => mark + count.toString(36).padStart(COUNT_LENGTH, '0')).join(''),
    ...(cursor.arrivesBy === undefined ? [] : [toText(cursor.arrivesBy)]),
  ].join('.');
  return ids.sign('cursor', content);
}

function toText(moment: number): string {
  return Math.floor(moment / SECOND_MS).toString(36);
}

function isWithin({ at, arrivesBy = at }: Pick<Cursor, 'at' | 'arrivesBy'>, base: number): boolean {
  const earliest = base - BACK_MS;
  const isNear = arrivesBy >= at - DAY_MS && arrivesBy <= at + 2 * DAY_MS;
  return at >= earliest && at <= base + AHEAD_MS && arrivesBy >= earliest && isNear;
}

const allowed = 'must be taken unchanged from a `Link` header of this operation';

function readCursor(text: string): Cursor | null {
  const [, direction, binding = '', ...rest] = (text.length <= MAX_LENGTH && WRITTEN.exec(contentOf(text))) || [];
  const [at, shownUntil, lateFrom] = rest.slice(0, 3).map((moment) => Number.parseInt(moment, 36) * SECOND_MS) as [
    number,
    number,
    number,
  ];
  const [shown = '', late = '', counts = '', arrivesBy] = rest.slice(3);
  const countedLength = MARK_LENGTH + COUNT_LENGTH;
  if (!direction || shown.length % MARK_LENGTH || late.length % MARK_LENGTH || counts.length % countedLength)
    return null;
  if (shownUntil < at || shownUntil > at + DAY_MS || lateFrom > at || lateFrom < at - DAY_MS) return null;
  const counted = cut(counts, countedLength).map(
    (one) => [one.slice(0, MARK_LENGTH), Number.parseInt(one.slice(MARK_LENGTH), 36)] as const,
  );
  if (counted.some(([, count]) => !(count > 0))) return null;
  return {
    direction: direction === 'n' ? 'next' : 'prev',
    binding,
    at,
    shown: new Set(cut(shown, MARK_LENGTH)),
    shownUntil,
    late: new Set(cut(late, MARK_LENGTH)),
    lateFrom,
    counts: new Map(counted),
    ...(arrivesBy !== undefined && { arrivesBy: Number.parseInt(arrivesBy, 36) * SECOND_MS }),
  };
}

function cut(text: string, length: number): string[] {
  return Array.from({ length: text.length / length }, (_, index) => text.slice(index * length, (index + 1) * length));
}

/** The text, which `checkedCursor` reads. */
export const cursorParameter = optional(
  describe(
    requiredText(allowed)
      .refine((text) => readCursor(text) !== null, allowed)
      .meta({ type: 'string', pattern: '^1[np](\\.[\\w-]*){7,8}$', maxLength: MAX_LENGTH }),
    'Goes on in the list, with the other parameters unchanged: take it, or the whole URL, from `rel="next"` or `rel="prev"` of the `Link` header. It is of no use for another stop or other places, nor for another operation.',
    '1n.xYkUFA.tisn60.tisn60.tisn60...q3Zr0dYh2Jc',
  ),
);

/** Throws `INVALID_PARAMETER` for a forged cursor, for that of another list, and for one that is too far from `base`, the moment asked for. */
export function checkedCursor(
  text: string | undefined,
  { binding, base, ids }: { binding: string; base: number; ids: IdSigner },
): Cursor | null {
  const cursor = text === undefined ? null : readCursor(text);
  if (text === undefined || !cursor) return null;
  if (!ids.isSigned('cursor', text)) throw wrongCursor(text, allowed);
  if (cursor.binding !== binding) throw wrongCursor(text, 'must be of this operation, and of the same stop or places');
  if (!isWithin(cursor, base))
    throw wrongCursor(text, 'is too old, or too far from the time asked for: begin again without it');
  return cursor;
}

function wrongCursor(value: string, problem: string) {
  return invalidParameters([{ parameter: 'cursor', value, allowed: problem }]);
}
