/** Calls `onBoard` with each new board until `signal` aborts; throws when the service refuses. */
export async function followBoard({ url, key, onBoard, signal, retryMs = 5000 }) {
  let lastEventId = '';
  while (!signal.aborted) {
    let waitMs = retryMs;
    try {
      const headers = { Authorization: `Bearer ${key}`, 'Last-Event-ID': lastEventId };
      const response = await fetch(url, { headers, signal });
      if (response.status >= 400 && response.status < 500) throw new Refusal((await response.json()).error);
      if (response.ok) await readEvents(response.body, take);
      else waitMs = Math.max(retryMs, 1000 * Number(response.headers.get('retry-after')));
    } catch (error) {
      if (error instanceof Refusal) throw error;
      // The connection broke off, or was aborted.
    }
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, waitMs));
  }

  function take({ event, id, data }) {
    if (event === 'board') {
      lastEventId = id;
      onBoard(JSON.parse(data));
    } else if (event === 'end' && JSON.parse(data).error.code !== 'SERVICE_UNAVAILABLE') {
      throw new Refusal(JSON.parse(data).error);
    }
  }
}

export class Refusal extends Error {
  constructor({ code, message }) {
    super(message);
    this.code = code;
  }
}

async function readEvents(body, take) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    // A comment arrives every 15 seconds, so a longer silence means that the connection is lost.
    const silence = setTimeout(() => reader.cancel(), 40_000);
    const { done, value } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    const parts = (text + value).split('\n\n');
    text = parts.pop();
    for (const part of parts) {
      const lines = part.split('\n').filter((line) => !line.startsWith(':'));
      take(Object.fromEntries(lines.map((line) => line.split(/: (.*)/s, 2))));
    }
  }
}
