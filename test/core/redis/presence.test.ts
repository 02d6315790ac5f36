import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UnavailableError } from '#src/core/redis/connection.ts';
import { createPresence, type Presence } from '#src/core/redis/presence.ts';

const never = () => new Promise<never>(() => {});
const fail = (reason: UnavailableError['reason']) => Promise.reject(new UnavailableError('no', reason));

let presence: Presence;
let probe: (key: string) => Promise<unknown>;
let isWritable: boolean;
let lines: string[];
let fields: object[];

beforeEach(() => {
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
    whileAway: 'all go on',
    nodeOf: (key) => key.slice(0, 1),
    probe: (key) => probe(key),
    takesWrites: async () => isWritable,
    log: { info: write, warn: write },
  });
});
afterEach(() => presence.close());

async function untilBack(key: string): Promise<void> {
  while (presence.isAway(key)) await sleep(10);
}

describe('the presence of a store', () => {
  it('the presence of Redis is tracked per node of a cluster', async () => {
    probe = never;
    await presence.watch('a1', fail('not-sent')).catch(() => {});
    expect([presence.isAway('a2'), presence.isAway('b1')]).toEqual([true, false]);
  });

  it('a store that replies with an error is still present', async () => {
    await expect(presence.watch('a', fail('refused'))).rejects.toMatchObject({ reason: 'refused' });
    expect(presence.isAway('a')).toBe(false);
    expect(lines).toEqual(['Redis refuses a command']);
  });

  it('the log reports once that the store accepts writes again', async () => {
    for (let call = 0; call < 3; call++) await presence.watch('a', fail('refused')).catch(() => {});
    isWritable = true;
    await expect.poll(() => lines).toEqual(['Redis refuses a command', 'Redis takes writes again']);
  });

  it('a store is present again when it replies to probes', async () => {
    let isThere = false;
    probe = () => (isThere ? Promise.resolve() : fail('not-sent'));
    await presence.watch('a', fail('no-response')).catch(() => {});
    await sleep(250);
    expect(presence.isAway('a')).toBe(true);
    isThere = true;
    await untilBack('a');
    expect(lines).toEqual(['Redis is away', 'Redis is back']);
    expect(fields).toEqual([{ node: 'a', reason: 'no', whileAway: 'all go on' }, { node: 'a' }]);
  });

  it('the late failure of an abandoned call does not make a store absent again', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    await expect(presence.watch('a', promise)).rejects.toMatchObject({ reason: 'no-response' });
    await untilBack('a');
    reject(new UnavailableError('the connection was lost', 'no-response'));
    await sleep(1);
    expect(lines).toEqual(['Redis is away', 'Redis is back']);
  });

  it('a paused store is not treated as a distant one', async () => {
    const delays = [600, 1];
    probe = () => sleep(delays.shift() ?? 1);
    await presence.watch('a', fail('no-response')).catch(() => {});
    await untilBack('a');
    const outcome = await Promise.race([presence.watch('a', never()).catch(() => 'given up'), sleep(600, 'waiting')]);
    expect(outcome).toBe('given up');
  });

  it('a distant store gets the time it needs', async () => {
    probe = () => sleep(250);
    await presence.watch('a', fail('no-response')).catch(() => {});
    await untilBack('a');
    expect(await presence.watch('a', sleep(400, 'answer'))).toBe('answer');
  });

  it('the round trip to a store is measured by the shortest call', async () => {
    await presence.watch('a', sleep(1));
    await Promise.all([presence.watch('a', sleep(150)), presence.watch('a', sleep(190))]);
    const outcome = await Promise.race([presence.watch('a', never()).catch(() => 'given up'), sleep(550, 'waiting')]);
    expect(outcome).toBe('given up');
  });

  it('a store more than a second away counts as absent', async () => {
    probe = () => sleep(1100);
    await presence.watch('a', fail('no-response')).catch(() => {});
    await sleep(2500);
    expect(presence.isAway('a')).toBe(true);
  });
});
