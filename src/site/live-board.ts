import type { z } from 'zod';
import { readBoard } from '../departures/board.ts';
import { type departureSchema, toDeparture } from '../departures/departure.ts';
import type { EfaClient } from '../efa/client.ts';
import { MODES } from '../transit/mode.ts';

export interface LiveBoard {
  stopName: string;
  departures: z.infer<typeof departureSchema>[];
}

/** Town Hall: every few minutes something leaves, by train, light rail and bus. */
export const LIVE_STOP = '200070';
const ROWS = 8;
/** However many people look at the home page, upstream hears of it this often at most. */
const KEEP_MS = 30_000;
/** A page does not wait longer for its ornament. */
const PATIENCE_MS = 1500;

/** What leaves one well-known stop now; null when it is not known soon enough. Never throws. */
export function createLiveBoard(efa: Pick<EfaClient, 'departureMonitor'>, now: () => Date) {
  let asked: { at: number; board: ReturnType<typeof ask> } | null = null;

  const ask = () =>
    readBoard(
      efa,
      { stopId: LIVE_STOP, modes: [...MODES], at: null },
      ROWS,
      ({ scheduledAt, realtimeAt }) => (realtimeAt ?? scheduledAt).getTime() >= now().getTime(),
    ).catch(() => null);

  return async (): Promise<LiveBoard | null> => {
    if (!asked || now().getTime() - asked.at >= KEEP_MS) asked = { at: now().getTime(), board: ask() };
    const board = await Promise.race([asked.board, soon()]);
    if (!board) return null;
    const departures = board.departures.map((departure) => toDeparture(departure, now()));
    return { stopName: board.stopName, departures };
  };
}

function soon(): Promise<null> {
  return new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, null).unref());
}
