import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccountStore } from '#src/access/store.ts';
import { type Front, keyIn, postForm, startFront } from '../../support/front.ts';
import { openTestStore, startRedis, type TestRedis } from '../../support/redis.ts';

const EMAIL = 'jo@example.com';
let redis: TestRedis;
let store: AccountStore;
let front: Front;
let stopBefore: keyof AccountStore | null = null;

beforeAll(async () => {
  redis = await startRedis();
  store = await openTestStore([redis.url]);
  const stopping = new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name) as (...args: unknown[]) => unknown;
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) => {
        if (name === stopBefore) {
          stopBefore = null;
          redis.signal('SIGSTOP');
        }
        return method.apply(target, args);
      };
    },
  });
  front = await startFront({
    accounts: stopping,
    mailLimits: { perAddress: 1 },
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
});
afterAll(async () => {
  redis?.signal('SIGCONT');
  await front?.[Symbol.asyncDispose]();
  await store?.close();
  await redis?.stop();
});

const signUp = () => postForm(front.app, '/signup', { email: EMAIL, terms: 'on' });
async function validKeys() {
  const account = await store.loadAccountByEmail(EMAIL);
  const keys = account ? await store.listKeys(account.id) : [];
  return { all: keys.length, valid: keys.filter(({ revokedAt }) => revokedAt === null).length };
}

describe('a sign-up whose command Redis carries out after its time is over', () => {
  it.each<[keyof AccountStore, number]>([
    ['openAccount', 0],
    ['addKey', 1],
  ])('the sign-up stopped at %s is 503, mails nothing, and leaves no key that works', async (name, keys) => {
    stopBefore = name;
    const response = await signUp();
    redis.signal('SIGCONT');
    expect(response.statusCode).toBe(503);
    expect(response.json()).toMatchObject({
      error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('No key was mailed') },
    });
    await expect.poll(validKeys).toEqual({ all: keys, valid: 0 });
    expect(await front.readOutbox()).toEqual([]);
  });

  it('the same address can sign up at once, as if nothing had happened', async () => {
    expect((await signUp()).statusCode).toBe(202);
    expect((await front.readOutbox()).map((mail) => keyIn(mail as never))).toHaveLength(1);
    expect(await validKeys()).toMatchObject({ valid: 1 });
    expect((await signUp()).statusCode).toBe(429);
  });
});
