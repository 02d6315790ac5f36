import { createPicker, createRandom, zipf } from '../economy/random.ts';

/** One request in so many takes the next request of all, so that each has been asked early and is asked again. */
const EVERY_QUESTION_SHARE = 0.04;
/** The n-th request is asked for in proportion to 1 / n to this power; most are then answered from the cache. */
const SKEW = 1.5;
const HEADERS = [
  '',
  '',
  'Accept-Encoding: gzip\r\n',
  'Accept-Encoding: br\r\n',
  'Accept-Encoding: zstd\r\n',
  'If-None-Match: *\r\n',
];

/** The texts of requests without end about so many requests, popular ones more often; some are wrong. */
export function createDemand(apiKeys: readonly string[], requests: number): () => string {
  const random = createRandom(1);
  const popular = createPicker(zipf(requests).map((weight) => weight ** SKEW));
  let next = 0;

  return () => {
    const key = apiKeys[Math.floor(random() * apiKeys.length)];
    const header = HEADERS[Math.floor(random() * HEADERS.length)];
    const request = random() < EVERY_QUESTION_SHARE ? next++ % requests : popular(random());
    const what = random();
    if (what < 0.01) return write('GET', '/v1/departures?stop=200060&limit=none', key);
    if (what < 0.02) return write('GET', pathOf(request), `tis_live_${Math.floor(random() * 1e12)}`);
    if (what < 0.03) return write('HEAD', pathOf(request), key);
    if (what < 0.04) return write('GET', `/board/${stopOf(request)}`, key);
    return write('GET', pathOf(request), key, header);
  };
}

function write(method: string, path: string, key: string | undefined, header = ''): string {
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n${header}\r\n`;
}

/** A request for each number. */
function pathOf(request: number): string {
  const kind = request % 20;
  if (kind < 12) return `/v1/departures?stop=${stopOf(request)}`;
  if (kind < 14)
    return `/v1/nearby?lat=-33.8841&lng=151.2063&limit=10&radius=${400 + (request % 1600)}&modes=${modeOf(request)}`;
  if (kind < 16) return `/v1/stops/search?q=central%20${request}`;
  if (kind < 19) return `/v1/trips?from=${stopOf(request)}&to=${stopOf(request + 1_000_000)}`;
  return `/v1/boards?stops=${stopOf(request)},${stopOf(request + 1)}`;
}

function stopOf(number: number): number {
  return 2_000_001 + number;
}

function modeOf(request: number): string {
  return ['all', 'bus', 'train', 'ferry'][Math.floor(request / 1600) % 4] ?? 'all';
}
