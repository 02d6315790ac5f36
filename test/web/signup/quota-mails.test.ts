import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Admission } from '#src/access/account.ts';
import { parseKey } from '#src/access/keys.ts';
import { createQuotaMails } from '#web/signup/quota-mails.ts';
import { type Front, keyIn, postForm, startFront } from '../../support/front.ts';

const BROWSER = { accept: 'text/html' };
let front: Front;
let accountId: string;

beforeEach(async () => {
  front = await startFront({ now: '2026-11-20T02:00:20Z' });
  await front.app.inject({ method: 'POST', url: '/signup', payload: { email: 'jo@example.com', terms: true } });
  const key = keyIn((await front.readOutbox())[0] as never);
  accountId = parseKey(key)?.accountId ?? '';
});
afterEach(() => front[Symbol.asyncDispose]());

/** Sets the count of requests so far, as if another instance had made them, then makes one more here. */
async function sendAfter(used: number): Promise<number> {
  const day = '20261120';
  const [before = 0] = await front.store.loadUsage(accountId, [day]);
  const update = { unacknowledged: 0, usedBySenderBefore: 0, sender: 'elsewhere', number: used };
  await front.store.update({ accountId, day, count: used - before, ...update });
  const key = keyIn((await front.readOutbox())[0] as never);
  return (await front.app.inject({ url: '/v1/trips', headers: { authorization: `Bearer ${key}` } })).statusCode;
}
const mailsSoon = (count: number) =>
  vi.waitFor(async () => {
    const mails = (await front.readOutbox()).filter(({ subject }) => subject?.includes('daily limit'));
    expect(mails).toHaveLength(count);
    return mails;
  }, 60_000);

describe('mails about the daily limit', () => {
  it('mails about the daily limit are sent at 80 % and at 100 %, each once a day', async () => {
    for (const used of [0, 798]) expect(await sendAfter(used)).toBe(400);
    await mailsSoon(0);
    for (const used of [799, 850, 900]) await sendAfter(used);
    const [first] = await mailsSoon(1);
    expect(first?.subject).toBe('80 % of your daily limit is used');
    expect(first?.to).toMatchObject([{ address: 'jo@example.com' }]);
    expect(first?.text).toContain('1,000 requests a day of the Free plan');
    expect(first?.text).toContain('resets at 2026-11-21 00:00 UTC (11:00 in Sydney)');
    expect(await sendAfter(999)).toBe(400);
    expect(await sendAfter(1000)).toBe(429);
    const mails = await mailsSoon(2);
    expect(mails.map(({ subject }) => subject)).toContain('Your daily limit is used up');
  });

  it('the button behind the link in a quota mail turns these mails off, and on again', async () => {
    await sendAfter(799);
    const [mail] = await mailsSoon(1);
    const [link = ''] = /http:\S+quota-mails\?token=\S+/.exec(mail?.text ?? '') ?? [];
    const { pathname, search, searchParams } = new URL(link);
    const token = searchParams.get('token') ?? '';
    const page = async () => (await front.app.inject({ url: pathname + search, headers: BROWSER })).body;
    expect(await page()).toContain('They are switched on.');
    await postForm(front.app, pathname, { token, mails: 'off' }, BROWSER);
    expect(await page()).toContain('They are switched off.');
    await sendAfter(999);
    await mailsSoon(1);
    await postForm(front.app, pathname, { token, mails: 'on' }, BROWSER);
    expect(await page()).toContain('They are switched on.');
  });

  it('nobody can turn quota mails off without the link', async () => {
    for (const token of [`${accountId}.${'A'.repeat(43)}`, accountId, '']) {
      const response = await postForm(front.app, '/keys/quota-mails', { token, mails: 'off' });
      expect(response.statusCode).toBe(400);
    }
    expect(await front.store.wantsQuotaMails(accountId)).toBe(true);
  });

  it('a quota mail is sent once when several processes count', async () => {
    const send = vi.fn(async () => true);
    const mails = () =>
      createQuotaMails({
        accounts: front.store,
        mailer: { sendOrRetry: send },
        mailContext: { publicUrl: '', docsUrl: '', isSandbox: true },
        createLink: () => '',
        log: { warn: vi.fn() },
      });
    await sendAfter(700);
    const caller = { accountId, plan: 'free' } as const;
    const admission: Admission = { kind: 'admitted', caller, day: '20261120', count: 1, used: 800, allowances: [] };
    for (const process of [mails(), mails(), mails()]) process.record(admission);
    await vi.waitFor(() => expect(send).toHaveBeenCalledTimes(1), 60_000);
  });
});
