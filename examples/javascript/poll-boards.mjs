/** Calls `onBoards` with changed boards until `signal` aborts. Throws if a retry cannot help. */
export async function pollBoards({ url, key, stops, onBoards, signal }) {
  const board = `${url}/v1/boards?stops=${stops.join(',')}&modes=all`;
  let etag = '';
  let failures = 0;
  while (!signal.aborted) {
    const response = await request(board, { Authorization: `Bearer ${key}`, 'If-None-Match': etag });
    let seconds;
    if (response?.ok) {
      etag = response.headers.get('etag');
      onBoards((await response.json()).boards);
    }
    if (response?.ok || response?.status === 304) {
      failures = 0;
      seconds = pace(response.headers, stops.length);
    } else if (response?.status === 429) {
      seconds = Number(response.headers.get('retry-after'));
    } else if (response && response.status < 500 && response.status !== 408) {
      throw new Error((await response.json()).error.message);
    } else {
      const first = Number(response?.headers.get('retry-after') ?? 5);
      seconds = Math.max(first, Math.min(60, 5 * 2 ** failures++));
    }
    // Jitter
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000 * (1 + Math.random() / 10)));
  }
}

/** The response, or null when there was no connection. */
async function request(url, headers) {
  try {
    return await fetch(url, { headers, signal: AbortSignal.timeout(15_000) });
  } catch {
    return null;
  }
}

/** Seconds until there can be new data, or longer so that the quota lasts until it resets. */
function pace(headers, cost) {
  const maxAge = Number(/max-age=(\d+)/.exec(headers.get('cache-control'))?.[1] ?? 15);
  const freshFor = maxAge - Number(headers.get('age'));
  const news = freshFor < 0 ? 15 : Math.max(1, freshFor);
  const [, left, reset] = /r=(\d+);t=(\d+)/.exec(headers.get('ratelimit')) ?? [];
  if (left === undefined) return news;
  const polls = Math.floor(left / cost);
  return Math.max(news, reset / Math.max(1, polls));
}

/** Call this every few seconds; it sends no request. */
export function currentDepartures({ departures }, now = Date.now()) {
  return departures
    .map((departure) => ({ ...departure, leaves: Date.parse(departure.realtime_at ?? departure.scheduled_at) }))
    .filter(({ leaves }) => leaves >= now)
    .map(({ leaves, ...departure }) => ({ ...departure, minutes_away: Math.floor((leaves - now) / 60_000) }));
}
