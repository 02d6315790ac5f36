import { afterEach, expect, it } from 'vitest';
import { Restrictions } from '#src/access/restrictions.ts';
import { openEmbeddedStore } from '#src/access/stores/open-store.ts';
import { createTestLog } from '#test/support/made-up-upstream.ts';

const NOW = new Date('2026-11-24T02:00:00Z');
const store = openEmbeddedStore(':memory:');
const opened: Restrictions[] = [];

afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

async function read() {
  const log = createTestLog();
  const restrictions = new Restrictions({ store, log });
  opened.push(restrictions);
  await restrictions.refresh();
  return { restrictions, log };
}

it('an instance logs nothing at startup if all suspensions were lifted', async () => {
  await store.setRestriction('network:203.0.113.0/24', JSON.stringify({ reason: 'testing', at: NOW.toISOString() }));
  const { restrictions, log } = await read();
  expect(log.lines).toEqual([{ level: 'warn', message: 'an operator has changed the suspensions' }]);
  await store.setRestriction('network:203.0.113.0/24', null);
  await restrictions.refresh();
  expect(log.lines).toHaveLength(2);
  expect((await read()).log.lines).toEqual([]);
});

it('a maintenance record of an earlier version suspends nobody and is not logged', async () => {
  await store.setRestriction('maintenance', JSON.stringify({ reason: '', since: NOW.toISOString() }));
  const { restrictions, log } = await read();
  expect([restrictions.ofNetwork('203.0.113.7'), restrictions.ofCaller({ accountId: 'ABCDefgh' })]).toEqual([
    null,
    null,
  ]);
  expect(log.lines).toEqual([]);
  await store.setRestriction('maintenance', null);
});

it('an operator’s reason ends with a full stop', async () => {
  await store.setRestriction('network:203.0.113.0/24', JSON.stringify({ reason: 'testing', at: NOW.toISOString() }));
  const { restrictions } = await read();
  expect(restrictions.ofNetwork('203.0.113.7')?.message).toMatch(/is suspended: testing\. For details/);
});

it('an unreadable store is logged once, and the last suspensions stay in force', async () => {
  const log = createTestLog();
  let isUnreachable = true;
  const readRestrictions = async () => {
    if (isUnreachable) throw new Error('no');
    return null;
  };
  const restrictions = new Restrictions({ store: { loadRestrictions: readRestrictions }, log });
  opened.push(restrictions);
  const line = { level: 'info', message: 'suspensions cannot be reloaded; keeping the last copy' };
  for (let n = 0; n < 3; n++) await restrictions.refresh();
  expect(log.lines).toEqual([line]);
  isUnreachable = false;
  await restrictions.refresh();
  isUnreachable = true;
  await restrictions.refresh();
  expect(log.lines).toEqual([line, line]);
});
