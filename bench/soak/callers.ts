import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../economy/random.ts';
import type { openPairs } from '../journeys/pairs.ts';

/** Connections of so many addresses are used again. Every third request comes over a new one, from an address of its own. */
const ADDRESSES = 40;
const ENCODINGS = ['identity', 'gzip', 'br', 'zstd'];
const MODES = ['all', 'bus', 'train', 'bus,train,ferry', 'train,metro,lightrail'];
const WORDS = ['central', 'park', 'station', 'beach', 'hill', 'north', 'george', 'bridge', 'school', 'wharf', 'road'];
const PAGES = ['/', '/docs', '/docs/streams', '/docs/errors/STOP_NOT_FOUND', '/status', '/explore', '/openapi.json'];
/** Identifiers in responses that later requests use, and how many of each are remembered. */
const IDS = {
  run: /"run_id":"([^"]{1,2000})"/,
  journey: /"journey_id":"([^"]{1,2000})"/,
  token: /"token":"([\w.-]{1,2000})"/,
};
const MAX_IDS = 300;
const FILLS_PER_SECOND = 20;

interface Call {
  path: string;
  body?: string;
  type?: string;
  key?: string;
}

/** Callers that send requests of every kind, each different from all before, with the keys in turn. */
export function createCallers(
  port: number,
  keys: readonly string[],
  { timetable, nextPair }: ReturnType<typeof openPairs>,
) {
  const random = createRandom(1);
  const below = (limit: number) => Math.floor(random() * limit);
  const oneOf = (list: readonly string[]) => list[below(list.length)] ?? '';
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const ids = { run: [] as string[], journey: [] as string[], token: [] as string[] };
  /** By status, error and path. */
  const failures: Record<string, number> = {};
  let minute = startMinute();
  const streams = new Set<ReturnType<typeof request>>();
  let count = 0;
  let openCount = 0;
  let isClosed = false;

  const stop = () => timetable.stop((count * 7919) % timetable.stopCount);
  const stopId = () => timetable.stop(below(timetable.stopCount)).id;
  const clock = () => `${String(below(24)).padStart(2, '0')}${String(below(60)).padStart(2, '0')}`;
  /** Some metres beside a stop. */
  const position = (id = stopId()) => {
    const { lat, lng } = timetable.stop(timetable.findStop(id) ?? 0);
    return [lat + (random() - 0.5) / 100, lng + (random() - 0.5) / 100].map((degrees) => degrees.toFixed(6));
  };
  /** Half of the journeys begin now, with live times. */
  const journey = () => {
    const { from, to, ...later } = nextPair();
    return { from, to, ...(below(2) && later) };
  };
  const betweenPositions = () => {
    const { from, to, ...when } = journey();
    return { from: position(from).join(), to: position(to).join(), ...when };
  };
  const at = () => position().join('&lng=');
  const board = () =>
    `stop=${stop().id}&modes=${oneOf(MODES)}&limit=${1 + below(50)}${below(2) ? `&time=${clock()}` : ''}`;
  const form = (fields: Record<string, string>) => ({
    body: new URLSearchParams(fields).toString(),
    type: 'application/x-www-form-urlencoded',
  });
  const json = (value: object) => ({ body: JSON.stringify(value), type: 'application/json' });
  const tool = (name: string, args: object) =>
    json({ jsonrpc: '2.0', id: count, method: 'tools/call', params: { name, arguments: args } });

  /** How often, in a thousand, and the request. */
  type Kinds = [number, () => Call][];
  const ofUpstream: Kinds = [
    // Only the trip planner has these stops.
    [50, () => ({ path: `/v1/departures?stop=${9_000_000 + count}&modes=all` })],
    [60, () => ({ path: `/v1/stops/search?q=${oneOf(WORDS)}%20${count}` })],
    [30, () => ({ path: `/v1/places/search?q=${count}%20${oneOf(WORDS)}%20street` })],
    [10, () => ({ path: `/v1/trips?from=${9_000_000 + count}&to=${stopId()}` })],
  ];
  const kinds: Kinds = [
    ...ofUpstream,
    [230, () => ({ path: `/v1/departures?${board()}&include=ids` })],
    [50, () => ({ path: `/v1/departures?${board()}&include=ids,calls,colors&cancelled=include` })],
    [40, () => ({ path: `/v1/arrivals?${board()}` })],
    [10, () => ({ path: `/v1/departures?${board()}`, key: oneOf(ids.token) })],
    [50, () => ({ path: `/v1/boards?stops=${stopId()},${stopId()},${stop().id}&modes=${oneOf(MODES)}` })],
    [90, () => ({ path: `/v1/nearby?lat=${at()}&radius=${200 + below(1800)}&modes=${oneOf(MODES)}` })],
    [80, () => ({ path: `/v1/trips?${new URLSearchParams(journey())}&include=ids` })],
    [30, () => ({ path: `/v1/trips?${new URLSearchParams(betweenPositions())}&path=none` })],
    [50, () => ({ path: `/v1/runs/${oneOf(ids.run)}` })],
    [30, () => ({ path: `/v1/trips/${oneOf(ids.journey)}?include=calls` })],
    [30, () => ({ path: `/v1/vehicles?lat=${at()}&radius=5000` })],
    [20, () => ({ path: `/v1/alerts?stop=${stop().id}` })],
    [20, () => ({ path: `/v1/stops/${stop().id}` })],
    [15, () => ({ path: '/mcp', ...tool('getDepartures', { stop: stopId(), limit: 1 + below(50) }) })],
    [15, () => ({ path: '/mcp', ...tool('planTrips', journey()) })],
    [15, () => ({ path: '/mcp', ...tool('searchStops', { q: `${oneOf(WORDS)} ${count}` }) })],
    [15, () => ({ path: `${oneOf(PAGES)}?n=${count}`, key: '' })],
    [15, () => ({ path: `/board/${stop().id}?n=${count}` })],
    [10, () => ({ path: '/v1/tokens', ...json({ minutes: 5 + below(50), operations: ['/v1/departures'] }) })],
    [5, () => ({ path: '/signup', key: '', ...form({ email: `rider-${count}@example.com`, terms: 'on' }) })],
    [10, () => ({ path: `/v1/departures?stop=${stop().id}&limit=none${count}` })],
    [10, () => ({ path: `/v1/departures?stop=${stop().id}`, key: `tis_live_${random().toString(36).slice(2)}` })],
    [10, () => ({ path: `/v1/${oneOf(WORDS)}/${count}` })],
  ];
  const deckOf = (all: Kinds) => all.flatMap(([share, make]) => Array.from({ length: share }, () => make));
  const deck = deckOf(kinds);

  /** Sends one request, of a random kind by default. It resolves once the response has been read. */
  async function send(make = deck[below(deck.length)] as () => Call): Promise<void> {
    count++;
    openCount++;
    const call = make();
    const startedAt = performance.now();
    const [status, text] = await new Promise<[string, string]>((resolve) => {
      const failed = (error: NodeJS.ErrnoException) => resolve([error.code ?? error.name, '']);
      const sent = open(call, count % 3 === 0 ? false : agent, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', failed);
        response.on('end', () => resolve([String(response.statusCode), Buffer.concat(chunks).toString()]));
      });
      sent.on('error', failed);
    });
    openCount--;
    minute.latenciesMs.push(performance.now() - startedAt);
    minute.statuses[status] = (minute.statuses[status] ?? 0) + 1;
    if (!(Number(status) < 500)) {
      const name = `${status} ${/"code":"(\w{1,40})"/.exec(text)?.[1] ?? ''} ${call.path.split('?')[0]?.slice(0, 12)}`;
      failures[name] = (failures[name] ?? 0) + 1;
    }
    for (const [name, pattern] of call.path.startsWith('/v1/') ? Object.entries(IDS) : []) {
      const known = ids[name as keyof typeof IDS];
      const found = pattern.exec(text)?.[1];
      if (found && known.push(found) > MAX_IDS) known.shift();
    }
  }

  function open(call: Call, via: Agent | false, take: (response: IncomingMessage) => void) {
    const { path, body, type, key = keys[count % keys.length] } = call;
    const network = via ? `0.1.${1 + (count % ADDRESSES)}` : `${1 + below(250)}.${below(250)}.${1 + below(250)}`;
    const headers = {
      accept: body && type === 'application/json' ? 'application/json, text/event-stream' : '*/*',
      'accept-encoding': path.includes('include=ids') ? 'identity' : oneOf(ENCODINGS),
      ...(key && { authorization: `Bearer ${key}` }),
      ...(body && { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
      ...(below(20) === 0 && { 'if-none-match': '*' }),
    };
    const method = body ? 'POST' : 'GET';
    const sent = request({
      port,
      host: '127.0.0.1',
      localAddress: `127.${network}`,
      agent: via,
      method,
      path,
      headers,
    });
    return sent.on('response', take).end(body);
  }

  /**
   * Sends the requests that upstream answers, so that the cache of its responses holds what it will hold after hours. They are
   * few a second: more would be a load test.
   */
  async function fill(requests: number): Promise<void> {
    const fillers = deckOf(ofUpstream);
    for (let sent = 0; sent < requests && !isClosed; sent++) {
      void send(fillers[below(fillers.length)]);
      await sleep(1000 / FILLS_PER_SECOND);
    }
  }

  /** Opens a stream that its reader leaves after ten seconds to five minutes. */
  function openStream(): void {
    count++;
    const path = [
      () => `/v1/departures/stream?${board()}`,
      () => `/v1/departures/stream?stop=${stopId()}&modes=all`,
      () => `/v1/vehicles/stream?lat=${at()}`,
      () => `/v1/alerts/stream?stop=${stopId()}`,
      () => `/v1/runs/${oneOf(ids.run)}/stream`,
    ][below(5)] as () => string;
    const sent = open({ path: path() }, false, (response) => response.on('error', () => {}).resume());
    const timer = setTimeout(() => sent.destroy(), 10_000 + below(290_000));
    streams.add(sent);
    sent
      .on('error', () => {})
      .on('close', () => {
        clearTimeout(timer);
        streams.delete(sent);
      });
  }

  return {
    send: () => send(),
    /** Half of them between stops, half between positions. */
    sendJourney: () =>
      send(() => ({ path: `/v1/trips?${new URLSearchParams(below(2) ? journey() : betweenPositions())}` })),
    fill,
    openStream,
    openCount: () => openCount,
    streamCount: () => streams.size,
    failures,
    /** The statuses and latencies since the last time. */
    takeMinute() {
      const taken = minute;
      minute = startMinute();
      return taken;
    },
    close() {
      isClosed = true;
      const left = [...streams];
      streams.clear();
      for (const sent of left) sent.destroy();
      agent.destroy();
    },
  };
}

function startMinute() {
  return { statuses: {} as Record<string, number>, latenciesMs: [] as number[] };
}
