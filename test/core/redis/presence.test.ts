import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sleep } from '#src/core/clock.ts';
import { UnavailableError } from '#src/core/redis/connection.ts';
import { createPresence, type Presence } from '#src/core/redis/presence.ts';
import { createSimulatedClock, type SimulatedClock } from '#test/support/simulated-clock.ts';

const never = () => new Promise<never>(() => {});
const fail = (reason: UnavailableError['reason']) => Promise.reject(new UnavailableError('no', reason));

let clock: SimulatedClock;
let presence: Presence;
let probe: (key: string) => Promise<unknown>;
let isWritable: boolean;
let lines: string[];
let fields: object[];

beforeEach(() => {
  clock = createSimulatedClock(0);
  isWritable = false;
  lines = [];
  fields = [];
  probe = async () => {};
  const write = (written: object, message: string) => {
    lines.push(message);
    fields.push(written);
  };
  presence = createPresence({
    storeName: 'Redis',
    whileUnreachable: 'all go on',
    nodeOf: (key) => key.slice(0, 1),
    probe: (key) => probe(key),
    takesWrites: async () => isWritable,
    log: { info: write, warn: write },
    clock,
  });
});
afterEach(() => presence.close());

const responseAfter = (ms: number) => sleep(clock, ms).then(() => 'response');

/** The outcome of a call so long after it was sent. */
async function outcomeAfter(ms: number, call: Promise<string>): Promise<string> {
  const watched = presence.watch('a', call).catch(() => 'given up');
  await clock.advance(ms);
  return Promise.race([watched, 'waiting']);
}

describe('the presence of a store', () => {
  it('the presence of Redis is tracked per node of a cluster', async () => {
    probe = never;
    await presence.watch('a1', fail('not-sent')).catch(() => {});
    expect([presence.isUnreachable('a2'), presence.isUnreachable('b1')]).toEqual([true, false]);
  });

  it('a store that replies with an error is still present', async () => {
    await expect(presence.watch('a', fail('refused'))).rejects.toMatchObject({ reason: 'refused' });
    expect(presence.isUnreachable('a')).toBe(false);
    expect(lines).toEqual(['Redis refuses a command']);
  });

  it('the log reports once that the store accepts writes again', async () => {
    for (let call = 0; call < 3; call++) await presence.watch('a', fail('refused')).catch(() => {});
    isWritable = true;
    await clock.advance(1000);
    expect(lines).toEqual(['Redis refuses a command', 'Redis accepts writes again']);
  });

  it('a store is present again when it replies to probes', async () => {
    let isThere = false;
    probe = () => (isThere ? Promise.resolve() : fail('not-sent'));
    await presence.watch('a', fail('no-response')).catch(() => {});
    await clock.advance(250);
    expect(presence.isUnreachable('a')).toBe(true);
    isThere = true;
    await clock.advance(100);
    expect(presence.isUnreachable('a')).toBe(false);
    expect(lines).toEqual(['Redis is unreachable', 'Redis is back']);
    expect(fields).toEqual([{ node: 'a', reason: 'no', whileUnreachable: 'all go on' }, { node: 'a' }]);
  });

  it('the late failure of an abandoned call does not make a store absent again', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    expect(await outcomeAfter(1200, promise)).toBe('given up');
    reject(new UnavailableError('the connection was lost', 'no-response'));
    await clock.advance(0);
    expect(presence.isUnreachable('a')).toBe(false);
    expect(lines).toEqual(['Redis is unreachable', 'Redis is back']);
  });

  it('a paused store is not treated as a distant one', async () => {
    const delays = [600, 1];
    probe = () => responseAfter(delays.shift() ?? 1);
    await presence.watch('a', fail('no-response')).catch(() => {});
    await clock.advance(701);
    expect(presence.isUnreachable('a')).toBe(false);
    expect(await outcomeAfter(250, never())).toBe('given up');
  });

  it('a distant store gets the time it needs', async () => {
    probe = () => responseAfter(250);
    await presence.watch('a', fail('no-response')).catch(() => {});
    await clock.advance(600);
    expect(await outcomeAfter(650, responseAfter(650))).toBe('response');
    expect(await outcomeAfter(750, never())).toBe('given up');
  });

  it('the round trip to a store is measured by the shortest call', async () => {
    for (const ms of [1, 150, 190]) await outcomeAfter(ms, responseAfter(ms));
    expect(await outcomeAfter(250, never())).toBe('given up');
  });

  it('a store with a round trip of more than a second counts as unreachable', async () => {
    probe = () => responseAfter(1100);
    await presence.watch('a', fail('no-response')).catch(() => {});
    await clock.advance(10_000);
    expect(presence.isUnreachable('a')).toBe(true);
  });
});
