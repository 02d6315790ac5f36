import { setTimeout as wait } from 'node:timers/promises';
import { createPicker, createRandom } from '../economy/random.ts';

/** Everything that a caller requests begins with its digit, so that each upstream call shows its cause. */
export interface Caller {
  digit: number;
  key: string;
  /** The responses, by status. */
  statuses: Record<string, number>;
}

/** Ages in seconds, of responses with status 200 only. */
export interface Polled {
  ages: number[];
  refused: number;
}

const PARALLEL = 3;
const PAUSE_MS = 400;
/** Few enough that every hour's share of calls covers them. */
const APP_STOPS = 4;
const APP_EVERY_MS = 10_000;
const TEXTS = ["o'brien st", "king's ' cross''", '🚌🚋⛴'.repeat(7), '%2527<b>', 'st leonards‮', 'a'.repeat(90)];

/** Sends random requests until `until`, some kinds more often than others. */
export async function misuse(url: string, caller: Caller, { seed, until }: { seed: number; until: number }) {
  const random = createRandom(seed * 100 + caller.digit);
  const habits = createHabits(caller.digit, random);
  const pick = createPicker(habits.map(() => random() ** 3));
  const headers = { authorization: `Bearer ${caller.key}` };

  async function work(): Promise<void> {
    while (Date.now() < until) {
      const { path, body } = (habits[pick(random())] as (typeof habits)[number])();
      const isStream = path.includes('/stream');
      const keptMs = isStream ? 1000 + random() * 89_000 : random() < 0.1 ? 100 : 30_000;
      const init = body ? { method: 'POST', body, headers: { ...headers, ...MCP_HEADERS } } : { headers };
      const signal = AbortSignal.timeout(Math.ceil(Math.max(1, Math.min(keptMs, until - Date.now()))));
      const status = await fetch(url + path, { ...init, signal })
        .then(async (response) => {
          await response.arrayBuffer().catch(() => {});
          return response.status;
        })
        .catch(() => 'left');
      caller.statuses[status] = (caller.statuses[status] ?? 0) + 1;
      await wait(random() * PAUSE_MS);
    }
  }

  await Promise.all(Array.from({ length: PARALLEL }, work));
}

const MCP_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

function createHabits(digit: number, random: () => number): (() => { path: string; body?: string })[] {
  const number = (below: number) => Math.floor(random() * below);
  const oneOf = <Value>(values: readonly Value[]) => values[number(values.length)] as Value;
  /** Known, unknown or failing stops; the same ones recur. */
  const stop = (kinds = '0133359') =>
    `${digit}${oneOf([...kinds])}${String(number(oneOf([5, 9999]))).padStart(4, '0')}`;
  const stops = (count: number, kinds?: string) => Array.from({ length: count }, () => stop(kinds)).join();
  const filter = () => oneOf(['', '&limit=50', '&routes=NOPE', '&routes=NOPE&limit=50', '&modes=all&limit=49']);
  const lat = () => (-30 - digit / 10 - random() / 20).toFixed(5);
  const lng = () => (151 + random()).toFixed(5);
  const text = () => encodeURIComponent(`${digit} ${oneOf(TEXTS).slice(0, 80)}${number(oneOf([5, 1e6]))}`);
  const end = () => oneOf([stop(), `${lat()},${lng()}`]);
  const tool = (name: string, given: object) => ({
    path: '/mcp',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
  });

  return [
    () => ({ path: `/v1/departures?stop=${stop()}${filter()}` }),
    () => ({ path: `/v1/departures?stop=${stop('0')}&routes=NOPE&limit=${1 + number(50)}` }),
    () => ({ path: `/v1/boards?stops=${stops(1 + number(20))}${filter()}` }),
    () => ({ path: `/v1/boards?stops=${stops(19, '3')},${stop('9')}` }),
    () => ({ path: `/v1/stops/search?q=${text()}` }),
    () => ({ path: `/v1/stops/search?q=${digit}%20fail%20${number(1e6)}` }),
    () => ({ path: `/v1/nearby?lat=${lat()}&lng=${lng()}&limit=50&radius=${1 + number(2000)}&modes=${oneOf(MODES)}` }),
    () => ({ path: `/v1/trips?from=${end()}&to=${end()}&limit=${number(9)}&modes=${oneOf(MODES)}` }),
    () => ({ path: `/v1/departures/stream?stop=${stop('0')}${filter()}` }),
    () => ({ path: `/v1/departures/stream?stop=${stop('09')}&routes=NOPE` }),
    () => tool('getBoards', { stops: stops(5), limit: '50' }),
    () => tool('searchStops', { q: decodeURIComponent(text()) }),
    () => tool('getDepartures', { stop: stop(), routes: 'NOPE' }),
  ];
}

const MODES = ['all', 'bus', 'ferry', 'train'] as const;

/** Polls a fixed set of stops, like an app with many users. */
export async function poll(url: string, { digit, key }: Caller, until: number): Promise<Polled> {
  const polled: Polled = { ages: [], refused: 0 };
  const headers = { authorization: `Bearer ${key}` };
  await Promise.all(
    Array.from({ length: APP_STOPS }, async (_, stop) => {
      await wait((stop * APP_EVERY_MS) / APP_STOPS);
      for (; Date.now() < until; await wait(APP_EVERY_MS)) {
        const response = await fetch(`${url}/v1/departures?stop=${digit}0000${stop}&limit=20`, { headers });
        await response.arrayBuffer();
        if (response.status === 200) polled.ages.push(Number(response.headers.get('age')));
        else polled.refused++;
      }
    }),
  );
  return polled;
}
