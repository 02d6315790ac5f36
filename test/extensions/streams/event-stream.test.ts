import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { EventStream } from '#src/extensions/streams/event-stream.ts';

const event = (text: string) => Buffer.from(`data: ${text.padEnd(100, '.')}\n\n`);

/** A response whose reader takes one write at a time, when the test reads. */
function startResponse() {
  let text = '';
  let taken: (() => void) | null = null;
  const response = new Writable({
    // A connection stays open for the next request.
    autoDestroy: false,
    write(chunk, _encoding, done) {
      text += chunk;
      taken = done;
    },
  });
  /** Reads until nothing is left. */
  async function read(): Promise<string> {
    while (taken) {
      const done = taken;
      taken = null;
      done();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return text;
  }
  return { response, read };
}

describe('a slow reader of a stream', () => {
  it('a slow reader gets only the latest event, whole, when it reads again', async () => {
    const { response, read } = startResponse();
    const stream = new EventStream(response);
    for (let number = 0; number < 1000; number++) stream.send(event(`board ${number}`));
    expect(response.writableLength).toBeLessThan(event('').length);
    const events = (await read()).split('\n\n').slice(1, -1);
    expect(events).toEqual([expect.stringMatching(/^data: board 999\.+$/)]);
  });

  it('a reader that reads nothing for five comments counts as gone', async () => {
    const { response, read } = startResponse();
    const stream = new EventStream(response);
    await read();
    stream.comment();
    for (let number = 0; number < 4; number++) stream.comment();
    expect(response.destroyed).toBe(false);
    stream.comment();
    expect(response.destroyed).toBe(true);
  });

  it('a reader that reads now and then does not count as gone', async () => {
    const { response, read } = startResponse();
    const stream = new EventStream(response);
    for (let time = 0; time < 5; time++) {
      for (let number = 0; number < 4; number++) stream.comment();
      await read();
    }
    expect(response.destroyed).toBe(false);
  });
});

describe('a reader of a stream that has gone', () => {
  it('nothing more is written to a reader that has gone', async () => {
    const { response, read } = startResponse();
    const stream = new EventStream(response);
    stream.send(event('waiting'));
    const write = vi.spyOn(response, 'write');
    response.destroy();
    await read();
    stream.send(event('too late'));
    stream.comment();
    stream.end(event('too late'));
    expect(write).not.toHaveBeenCalled();
    expect(response.errored).toBeNull();
  });
});

describe('a reader of a stream over a connection', () => {
  const MEGABYTE = 2 ** 20;

  /** Returns the two ends of one request. */
  async function connect(): Promise<{ response: ServerResponse; answer: IncomingMessage }> {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => server.closeAllConnections());
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
    const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    response.flushHeaders();
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    return { response, answer };
  }

  it('a stalled reader holds one event in the process, and gets the latest when it continues', async () => {
    const { response, answer } = await connect();
    const stream = new EventStream(response);
    answer.once('data', () => answer.pause());
    for (let number = 0; number < 40; number++) {
      stream.send(Buffer.from(`data: ${number} ${'.'.repeat(MEGABYTE)}\n\n`));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(response.writableLength).toBeLessThan(2 * MEGABYTE);
    const numbers: string[] = [];
    const reading = (async () => {
      for await (const chunk of answer) {
        for (const [, number = ''] of String(chunk).matchAll(/data: (\d+) /g)) numbers.push(number);
        if (numbers.at(-1) === '39') stream.end(Buffer.from('event: end\n\n'));
      }
    })();
    await reading;
    expect(numbers.at(-1)).toBe('39');
    expect(numbers.length).toBeLessThan(40);
    expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => Number(one) - Number(other)));
  });

  it('a reader that breaks off causes no error', async () => {
    const { response, answer } = await connect();
    const stream = new EventStream(response);
    answer.once('data', () => answer.pause());
    for (let number = 0; number < 20; number++) stream.send(Buffer.alloc(MEGABYTE));
    answer.destroy();
    await once(response, 'close');
    stream.send(Buffer.from('data: late\n\n'));
    expect(response.errored ?? null).toBeNull();
  });
});

describe('the last event of a stream', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('the last event comes after the event being sent, and nothing follows it', async () => {
    const { response, read } = startResponse();
    const stream = new EventStream(response);
    stream.send(event('board'));
    stream.end(event('end'));
    stream.send(event('too late'));
    stream.comment();
    stream.end(event('too late'));
    const text = await read();
    expect(text).toMatch(/^retry: .*data: end\.+\n\n$/s);
    expect(text).not.toContain('too late');
    expect(response.writableFinished).toBe(true);
  });

  it('the service waits two seconds for the last event, then closes the connection', () => {
    const { response } = startResponse();
    new EventStream(response).end(event('end'));
    vi.advanceTimersByTime(1999);
    expect(response.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(response.destroyed).toBe(true);
  });

  it('the connection stays open when the last event was read', async () => {
    const { response, read } = startResponse();
    new EventStream(response).end(event('end'));
    await read();
    vi.advanceTimersByTime(10_000);
    expect(response.destroyed).toBe(false);
  });
});
