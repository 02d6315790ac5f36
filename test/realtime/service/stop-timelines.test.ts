import { zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { StopTimelines } from '#src/boards/stop-timelines.ts';
import { departure, pageOf } from '#test/support/departure.ts';

const NOW = new Date('2026-04-15T00:00:00Z').getTime();
const MINUTE_MS = 60_000;

const train = (minute: number) =>
  departure({
    runId: `run ${minute} ${Math.random()}`,
    mode: 'train',
    network: 1,
    plannedAt: NOW + minute * MINUTE_MS,
    alerts: ['The lift is out of order.'],
  });
const page = (retrievedAt: number, askedFor: number | null = null) =>
  pageOf(
    Array.from({ length: 40 }, (_, index) => train(index)),
    { askedFor, modes: ['train'], retrievedAt },
  );

function createStore() {
  const kept = new Map<string, Buffer>();
  return {
    kept,
    get: async (key: string) => kept.get(key) ?? null,
    set: (key: string, value: Buffer) => void kept.set(key, value),
  };
}

it('the timelines of any number of stops take no more memory than they may', async () => {
  const timelines = new StopTimelines(null, { maxPackedBytes: 200_000, maxOpenBytes: 300_000 });
  for (let stop = 0; stop < 300; stop++) await timelines.add(`${stop}`, 'Stop', [page(NOW)]);
  const { entries, bytes } = timelines.size();
  expect(bytes).toBeLessThanOrEqual(500_000);
  expect(entries).toBeGreaterThan(20);
  expect(await timelines.open('0')).toBeNull();
  expect((await timelines.open('299'))?.timeline).toHaveLength(1);
});

it('a stop that was closed for want of room is opened again with all its pages', async () => {
  const timelines = new StopTimelines(null, { maxOpenBytes: 100_000 });
  const { stop } = await timelines.add('first', 'First', [page(NOW), page(NOW + 1000, NOW + 38 * MINUTE_MS)]);
  for (let other = 0; other < 10; other++) await timelines.add(`${other}`, 'Stop', [page(NOW)]);
  const again = await timelines.open('first');
  expect(again).not.toBe(stop);
  expect(again?.timeline).toEqual(stop.timeline);
  expect(again?.stopName).toBe('First');
});

it('what one instance has asked, the others neither ask nor ask about again', async () => {
  const store = createStore();
  const [one, other] = [new StopTimelines(store), new StopTimelines(store)];
  const { stop } = await one.add('200060', 'Central', [page(NOW)]);
  const change = { key: 'moved', at: NOW + MINUTE_MS };
  stop.changes.note([change], NOW);
  stop.changes.asked(NOW);
  stop.changes.settle({ until: NOW, retrievedAt: NOW }, change);
  await one.share(stop);
  const opened = await other.open('200060');
  expect(opened?.timeline).toEqual(stop.timeline);
  opened?.changes.note([change], NOW + 90_000);
  expect(opened?.changes.findDue(NOW + 90_000)).toBeNull();
});

it('an instance takes over the page that another one has added meanwhile', async () => {
  const store = createStore();
  const [one, other] = [new StopTimelines(store), new StopTimelines(store)];
  const { stop } = await one.add('200060', 'Central', [page(NOW)]);
  await one.share(stop);
  const opened = await other.open('200060');
  await one.add('200060', 'Central', [page(NOW + 5000, NOW + 38 * MINUTE_MS)]);
  await one.share(stop);
  expect(opened && (await other.takeOver(opened))).toBe(true);
  expect(opened?.timeline).toEqual(stop.timeline);
  expect(opened && (await other.takeOver(opened))).toBe(false);
});

it('a page that is known adds nothing', async () => {
  const timelines = new StopTimelines(null);
  const known = page(NOW);
  expect((await timelines.add('200060', 'Central', [known])).isNew).toBe(true);
  expect((await timelines.add('200060', 'Central', [known])).isNew).toBe(false);
});

it('bytes of another version in the store count as nothing', async () => {
  for (const bytes of [Buffer.from('not a record'), zstdCompressSync('{"other":1}'), zstdCompressSync('[]')]) {
    const timelines = new StopTimelines({ get: async () => bytes, set() {} });
    expect(await timelines.open('200060')).toBeNull();
  }
});

it('a record of the form before this one is neither read nor replaced, so that instances of both forms run side by side', async () => {
  const store = createStore();
  const before = zstdCompressSync(JSON.stringify({ stopName: 'Central', pages: [], settled: { changes: [] } }));
  store.set('timeline:1:200060', before);
  const timelines = new StopTimelines(store);
  expect(await timelines.open('200060')).toBeNull();
  const { stop } = await timelines.add('200060', 'Central', [page(NOW)]);
  await timelines.share(stop);
  expect(store.kept.get('timeline:1:200060')).toBe(before);
  expect((await new StopTimelines(store).open('200060'))?.timeline).toEqual(stop.timeline);
});
