import { z } from 'zod';
import type { Ask } from '../efa/ask.ts';
import { ApiError } from '../errors/api-error.ts';
import type { BoardEvent } from '../live/boards/board-event.ts';
import type { BoardCall } from '../live/boards/board-view.ts';
import type { BoardPage } from '../live/boards/timetable-pages.ts';
import type { TimelineQuestion } from '../live/timeline/timeline-question.ts';
import type { FindContext } from '../operation.ts';
import { fromSydneyWallClock, startOfMinute, toSydneyWallClock } from '../transit/time.ts';
import { type Board, type BoardQuestion, type Page, readBoard, readPage, selectFirst } from './board.ts';
import { leavesAt, OCCUPANCIES, type ScheduledDeparture } from './departure.ts';
import type { ListedDeparture } from './map.ts';

type IsWanted = (departure: ScheduledDeparture) => boolean;
type Context = Pick<FindContext, 'ask' | 'liveBoards' | 'now'>;

/**
 * From the stop's timetable and the feeds where they have the whole board, else from the departure monitor; where calls are
 * too short for that, from the timetable alone.
 */
export async function findBoard(
  context: Context,
  question: BoardQuestion,
  limit: number,
  isWanted: IsWanted,
): Promise<Board> {
  const { liveBoards } = context;
  let hasAsked = false;
  const ask: Ask = async (...asked) => {
    const answer = await context.ask(...asked);
    hasAsked ||= answer.freshness?.source === 'upstream';
    return answer;
  };
  const find = (how: 'find' | 'findPlanned') => findLiveBoard({ ...context, ask }, question, limit, isWanted, how);
  const board = await find('find');
  if (board) return board;
  const { purpose } = liveBoards;
  const askForBoard: Ask = (asked, options) => ask(asked, { ...(purpose && { purpose }), ...options });
  const read = await readBoard(askForBoard, question, limit, isWanted).catch(async (error) => {
    const planned = isUnavailable(error) ? await find('findPlanned') : null;
    if (planned) return planned;
    throw error;
  });
  if (!('pages' in read)) return read;
  const { pages, freshness, ...monitored } = read;
  if (question.at === null)
    await liveBoards.learn(
      stopKey(question),
      pages.flatMap((page) => toBoardPage(page) ?? []),
    );
  // The first page may have been asked for a moment ago, to find out which feeds the board needs.
  return { ...monitored, freshness: hasAsked ? { ...freshness, source: 'upstream' } : freshness };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'UPSTREAM_UNAVAILABLE';
}

async function findLiveBoard(
  { ask, liveBoards, now }: Context,
  question: BoardQuestion,
  limit: number,
  isWanted: IsWanted,
  how: 'find' | 'findPlanned',
): Promise<Board | null> {
  const at = question.at && fromSydneyWallClock(question.at);
  // A time gone by, and the hours in which the clocks are changed, are left to the departure monitor.
  if (question.at && (!at || at < now())) return null;
  // An asked time lists what is planned from then on, the present what has not left.
  const minute = startOfMinute(now());
  const isListed = (departure: ScheduledDeparture) =>
    at ? departure.scheduledAt >= at : leavesAt(departure) >= minute;
  const isShown = (departure: ScheduledDeparture) => isWanted(departure) && isListed(departure);
  const { modes } = question;
  const board = await liveBoards[how]({
    stopId: stopKey(question),
    modes,
    at: at?.getTime() ?? null,
    limit,
    counts: (call) => mapCall(call, now()).some((departure) => !departure.isCancelled && isShown(departure)),
    readPage: async (wanted, options) => {
      const next = toQuestion(question, wanted);
      return next && toBoardPage(await readPage(ask, next, options));
    },
  });
  if (!board) return null;
  const departures = board.calls.flatMap((call) => mapCall(call, now())).filter(isShown);
  // Two pages may list the same departure without an identifier.
  const shown = selectFirst(limit, new Map(departures.map((departure) => [departure.key, departure])).values());
  const freshness = board.freshnessOf(shown.map(({ call }) => call));
  return { stopName: board.stopName, freshness, departures: shown, leftOut: {} };
}

/** What a board shows of a departure beside its times; kept with the timetable as JSON. */
type Shown = z.infer<typeof shownSchema>;

const shownSchema = z.object({
  key: z.string(),
  destination: z.string(),
  platform: z.string().nullable(),
  isWheelchairAccessible: z.boolean(),
  occupancy: z.enum(OCCUPANCIES).nullable(),
  alerts: z.array(z.string()),
  saidAt: z.number(),
});

/** Whether another instance has written what a departure shows in the form that this one reads. */
export function isShown(shown: object): boolean {
  return shownSchema.safeParse(shown).success;
}

const MINUTE_MS = 60_000;
/** A vehicle does not keep what the departure monitor said of its passengers. */
const OCCUPANCY_KEPT_MS = 3 * MINUTE_MS;

/** None when the vehicle has left. */
function mapCall(call: BoardCall, now: Date): (ScheduledDeparture & { key: string; call: BoardCall })[] {
  const { event, verdict } = call;
  if (verdict.kind === 'departed') return [];
  const { saidAt, ...shown } = event.shown as Shown;
  const known = now.getTime() - saidAt < OCCUPANCY_KEPT_MS ? shown.occupancy : null;
  const isLive = verdict.kind === 'live';
  return [
    {
      ...shown,
      runId: event.runId,
      route: event.route,
      mode: event.mode,
      scheduledAt: new Date(event.plannedAt),
      realtimeAt: isLive ? new Date(verdict.leavesAt) : null,
      occupancy: isLive ? (verdict.occupancy ?? known) : known,
      isCancelled: verdict.kind === 'cancelled',
      call,
    },
  ];
}

function toQuestion(board: BoardQuestion, { at, modes }: TimelineQuestion): BoardQuestion | null {
  if (at === null) return { ...board, modes, at: null };
  const wallClock = toSydneyWallClock(new Date(at));
  return fromSydneyWallClock(wallClock) && { ...board, modes, at: wallClock };
}

/** Null when it is not known what moment was asked for. */
function toBoardPage({ question, stopName, departures, eventCount, lastPlanned, freshness }: Page): BoardPage | null {
  const askedFor = question.at && fromSydneyWallClock(question.at);
  if (question.at && !askedFor) return null;
  const { retrievedAt, source } = freshness;
  return {
    stopName,
    isNew: source === 'upstream',
    askedFor: askedFor?.getTime() ?? null,
    modes: question.modes,
    retrievedAt,
    events: departures.map((departure) => toEvent(departure, question, retrievedAt)),
    eventCount,
    lastPlannedAt: lastPlanned?.getTime() ?? null,
  };
}

function toEvent(departure: ListedDeparture, question: BoardQuestion, saidAt: number): BoardEvent {
  const { runId, mode, route, network, isCancelled, scheduledAt, realtimeAt } = departure;
  const { key, destination, platform, isWheelchairAccessible, occupancy, alerts } = departure;
  const shown: Shown = { key, destination, platform, isWheelchairAccessible, occupancy, alerts, saidAt };
  return {
    runId,
    stopId: departure.platformId ?? stopKey(question),
    mode,
    route,
    network,
    plannedAt: scheduledAt.getTime(),
    isCancelled,
    lastLiveAt: realtimeAt?.getTime() ?? null,
    shown,
  };
}

/** The authority takes both cases. */
function stopKey({ stopId }: BoardQuestion): string {
  return stopId.toUpperCase();
}
