import {
  createDeadline,
  type Message,
  type RequestOptions,
  type Sender,
  TransitError,
  toTransitError,
} from './request.ts';

export interface StreamOptions extends RequestOptions {
  /** Receives the reason when there is no data at present; the stream continues. */
  onFailure?: (error: TransitError) => void;
}

/** The service sends a comment every 15 seconds. A stream that is silent for longer has lost its connection. */
const MAX_SILENCE_MS = 45_000;

interface StreamEvent {
  event: string;
  id: string;
  data: string;
}

/**
 * Yields the data of each event. Connects again when the stream ends or breaks, and continues after the last event. Throws when
 * the service refuses, or when the run or journey is over.
 */
export async function* followStream<Body>(
  { open, wait }: Sender,
  path: string,
  { signal, onFailure }: StreamOptions = {},
): AsyncGenerator<Body, void, void> {
  let lastEventId = '';
  for (let failures = 0; ; failures++) {
    let failure = toTransitError(new Error('the stream ended'));
    const deadline = createDeadline(signal);
    try {
      deadline.start(MAX_SILENCE_MS);
      const response = await open(path, lastEventId, deadline.signal);
      for await (const { event, id, data } of readEvents(response, deadline)) {
        failures = 0;
        if (event === 'failure') onFailure?.(toError(data, () => true));
        else if (event === 'end') throw toError(data, isRestart);
        else {
          lastEventId = id;
          yield JSON.parse(data);
        }
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      failure = toTransitError(error);
      // 429: too many streams are open, or the day's quota is used up.
      if (!failure.isTemporary || failure.status === 429) throw failure;
    } finally {
      deadline.end();
    }
    await wait({ error: failure, failures, signal });
  }
}

/** Only a server that stops ends its streams for a while. */
const isRestart = (code: string) => code === 'SERVICE_UNAVAILABLE';

function toError(data: string, isTemporary: (code: string) => boolean): TransitError {
  const { error }: Message = JSON.parse(data);
  return new TransitError(error, { isTemporary: isTemporary(error.code) });
}

/** The events with data. Time counts only while nothing is being processed. */
async function* readEvents(
  { body }: Response,
  { start, stop }: ReturnType<typeof createDeadline>,
): AsyncGenerator<StreamEvent, void, void> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    start(MAX_SILENCE_MS);
    const { done, value } = (await reader?.read()) ?? { done: true };
    stop();
    if (done) return;
    const parts = (text + decoder.decode(value, { stream: true })).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const event = readEvent(part);
      if (event.data) yield event;
    }
  }
}

function readEvent(part: string): StreamEvent {
  const event: StreamEvent = { event: 'message', id: '', data: '' };
  for (const line of part.split('\n')) {
    const [, name, value] = /^(event|id|data): ?(.*)$/.exec(line) ?? [];
    if (name) event[name as keyof StreamEvent] = value ?? '';
  }
  return event;
}
