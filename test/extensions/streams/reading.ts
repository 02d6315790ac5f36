import type { TestApp } from '#test/support/app.ts';

/** An event, or a comment as an event named "comment". */
interface ReadEvent {
  event: string;
  id?: string;
  data: string;
}

export interface ReadStream {
  status: number;
  headers: Headers;
  /** Everything received so far. */
  events: ReadEvent[];
  /** Resolves with the data of the next unread event of that name. */
  next(event: string): Promise<unknown>;
  /** Resolves when the service has ended the stream. */
  ended: Promise<void>;
  close(): void;
}

/** Opens a stream over HTTP and reads it. */
export async function openStream(
  app: TestApp,
  url: string,
  { key = app.apiKey, ...headers }: Record<string, string> = {},
): Promise<ReadStream> {
  const aborter = new AbortController();
  const { port } = app.server.address() as { port: number };
  const response = await fetch(`http://127.0.0.1:${port}${url}`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
    signal: aborter.signal,
  });
  const events: ReadEvent[] = [];
  const taken = new Set<ReadEvent>();
  let wake = Promise.withResolvers<void>();
  const ended = readAll(response, (event) => {
    events.push(event);
    wake.resolve();
    wake = Promise.withResolvers();
  });

  async function next(name: string): Promise<unknown> {
    for (;;) {
      const found = events.find((one) => one.event === name && !taken.has(one));
      if (found) {
        taken.add(found);
        return name === 'comment' ? found.data : JSON.parse(found.data);
      }
      await wake.promise;
    }
  }
  return { status: response.status, headers: response.headers, events, next, ended, close: () => aborter.abort() };
}

async function readAll(response: Response, take: (event: ReadEvent) => void): Promise<void> {
  let text = '';
  try {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const parts = (text + chunk).split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) take(readEvent(part));
    }
  } catch {
    // The test closed it.
  }
}

function readEvent(part: string): ReadEvent {
  if (part.startsWith(':')) return { event: 'comment', data: part.slice(1).trim() };
  const fields = part.split('\n').map((line) => /^(\w+): (.*)$/.exec(line)?.slice(1) ?? []);
  return { event: 'greeting', data: '', ...Object.fromEntries(fields) };
}
