import { issueKey, parseKey } from '#src/access/keys.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { UnavailableError } from '#src/core/redis/connection.ts';

/*
 * Issues keys and counts requests as fast as it can until it is killed, and prints each only once it is acknowledged: "key
 * TEXT" or "counted TEXT USED".
 */
const [path = ''] = process.argv.slice(2);
const store = openEmbeddedStore(path);
const now = new Date('2026-11-21T10:00:00Z');

for (let n = 0; ; n++) {
  const email = `${process.pid}-${n}@example.com`;
  const account = await store.openAccount({ email, plan: 'free', createdAt: now.toISOString() });
  const issued = await issueKey(store, { account, kind: 'live', label: '', now: now.getTime() });
  const key = parseKey(issued?.text ?? '');
  if (!issued || !key) throw new Error('no key');
  process.stdout.write(`key ${issued.text}\n`);
  for (let request = 0; request < 50; request++) {
    const { accountId, hash: keyHash } = key;
    const response = await store.admit({ accountId, keyHash, day: '20261121', sender: '' }).catch(unlessUnavailable);
    if (response?.kind === 'admitted') process.stdout.write(`counted ${issued.text} ${response.used}\n`);
  }
  // Lets the output be written.
  await new Promise((resolve) => setImmediate(resolve));
}

/** On a busy disk the other processes may hold the file for longer than a request waits. Nothing was counted then. */
function unlessUnavailable(error: unknown): null {
  if (error instanceof UnavailableError) return null;
  throw error;
}
