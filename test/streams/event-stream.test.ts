import { describe, expect, it } from 'vitest';
import { createEventStream } from '#src/streams/event-stream.ts';

const event = (text: string) => Buffer.from(`data: ${text.padEnd(100, '.')}\n\n`);

describe('a reader that is slow', () => {
  it('gets the latest event only, whole, when it reads again', async () => {
    const { body, send } = createEventStream(() => {});
    const reading = body[Symbol.asyncIterator]();
    await reading.next();
    for (let number = 0; number < 1000; number++) send(event(`board ${number}`));
    let text = '';
    while (!text.includes('board 999')) text += String((await reading.next()).value);
    const events = text.split('\n\n').slice(0, -1);
    expect(events.length).toBeLessThan(5);
    for (const part of events) expect(part).toMatch(/^data: board \d+\.+$/);
  });

  it('is taken for gone when it reads nothing for five comments', async () => {
    const closed = Promise.withResolvers<void>();
    const { body, comment } = createEventStream(closed.resolve);
    for (let number = 0; number < 4; number++) comment();
    expect(body.destroyed).toBe(false);
    for (let number = 0; number < 3; number++) comment();
    expect(body.destroyed).toBe(true);
    await closed.promise;
  });

  it('still gets the last event, and the stream is closed once', async () => {
    let closed = 0;
    const { body, send, end } = createEventStream(() => closed++);
    send(event('board'));
    end(event('end'));
    send(event('too late'));
    end(event('too late'));
    const text = (await body.toArray()).join('');
    expect(text).toContain('data: end');
    expect(text).not.toContain('too late');
    await new Promise((resolve) => setImmediate(resolve));
    expect(closed).toBe(1);
  });
});
