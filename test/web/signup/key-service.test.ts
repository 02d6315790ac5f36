import { expect, it } from 'vitest';
import { MAX_LIVE_KEYS } from '#src/access/account.ts';
import { issueKey } from '#src/access/keys.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { createKeyService } from '#web/signup/key-service.ts';

const NOW = new Date('2026-11-20T02:00:20Z');

/** An account with all the keys it may have, and a mail server that the test releases. */
async function openAccount() {
  const accounts = openEmbeddedStore(':memory:');
  const account = await accounts.openAccount({ email: 'jo@example.com', plan: 'free', createdAt: NOW.toISOString() });
  for (let n = 0; n < MAX_LIVE_KEYS; n++)
    await issueKey(accounts, { account, kind: 'live', label: `${n}`, now: NOW.getTime() });
  const sent: PromiseWithResolvers<void>[] = [];
  const service = createKeyService({
    accounts,
    mailer: {
      send() {
        const mail = Promise.withResolvers<void>();
        sent.push(mail);
        return mail.promise;
      },
      sendOrRetry: async () => true,
    },
    mailContext: { publicUrl: '', docsUrl: '', isSandbox: false },
    keyKind: 'live',
    createLink: async () => '',
    now: () => NOW.getTime(),
    sleep: () => new Promise(() => {}),
  });
  const validKeys = async () => (await accounts.listKeys(account.id)).filter(({ revokedAt }) => revokedAt === null);
  return { accounts, account, service, sent, validKeys };
}

it('a key is replaced only when its new one was mailed, even while another one is being replaced', async () => {
  const { account, service, sent, validKeys } = await openAccount();
  const [first, second] = await validKeys();
  if (!first || !second) throw new Error('no keys');
  const replacing = service.rotate(account, first, 0);
  await expect.poll(() => sent.length).toBe(1);
  expect(await service.rotate(account, second, 0)).toBe(false);
  sent[0]?.resolve();
  expect(await replacing).toBe(true);
  const left = (await validKeys()).map(({ hash }) => hash);
  expect(left).toHaveLength(MAX_LIVE_KEYS);
  expect([left.includes(first.hash), left.includes(second.hash)]).toEqual([false, true]);
});

it('an owner whose new key was mailed is told when the old one could not be revoked', async () => {
  const { accounts, account, service, sent, validKeys } = await openAccount();
  const [old] = await validKeys();
  if (!old) throw new Error('no keys');
  accounts.revokeKey = () => Promise.reject(new Error('no reply'));
  const replacing = service.rotate(account, old, 0);
  await expect.poll(() => sent.length).toBe(1);
  sent[0]?.resolve();
  await expect(replacing).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    message: expect.stringContaining('The new key was mailed'),
  });
});
