import { gunzipSync } from 'node:zlib';
import bindings from 'gtfs-realtime-bindings';
import { request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { FEEDS } from '#sandbox/feeds/feed.ts';
import { startSandbox } from '#sandbox/server.ts';
import { createSimulatedClock } from '#test/support/simulated-clock.ts';
import { API_KEY, sandboxAt, send } from '../requests.ts';
import { FEED_NAMES } from './played-day.ts';

const NOW = '2026-11-17T21:00:00Z';
const { FeedMessage } = bindings.transit_realtime;

async function poll(path: string, headers: object = {}) {
  const sandbox = await sandboxAt(NOW);
  const response = await request(new URL(path, sandbox.url), {
    headers: { authorization: `apikey ${API_KEY}`, ...headers },
  });
  const body = Buffer.from(await response.body.arrayBuffer());
  return { status: response.statusCode, headers: response.headers, body };
}

it('the sandbox serves every feed as protobuf', async () => {
  for (const name of FEED_NAMES) {
    const { status, headers, body } = await poll(FEEDS[name].path);
    expect([status, headers['content-type']]).toEqual([200, 'application/x-google-protobuf']);
    expect(Number(FeedMessage.decode(body).header.timestamp)).toBe(Date.parse(NOW) / 1000);
  }
});

it('a sandbox feed without the right key is a 401', async () => {
  const { status, body } = await poll(FEEDS.buses.path, { authorization: 'apikey wrong' });
  expect(status).toBe(401);
  expect(JSON.parse(body.toString()).ErrorDetails.RequestedUrl).toBe('/v1/gtfs/realtime/buses');
});

it('an unknown sandbox feed or version is a 404', async () => {
  expect((await poll('/v1/gtfs/realtime/sydneytrains')).status).toBe(404);
  expect((await poll('/v1/gtfs/realtime/regionbuses/newenglandnorthwest')).status).toBe(404);
  expect((await poll('/v1/tp/sydneytrains')).status).toBe(404);
});

it('sandbox feeds are compressed for clients that accept gzip', async () => {
  const plain = await poll(FEEDS.sydneytrains.path);
  const zipped = await poll(FEEDS.sydneytrains.path, { 'accept-encoding': 'gzip' });
  expect([plain.headers['content-encoding'], zipped.headers['content-encoding']]).toEqual([undefined, 'gzip']);
  expect(gunzipSync(zipped.body)).toEqual(plain.body);
});

it('the sandbox serves vehicle positions under their own path', async () => {
  const { status, body } = await poll('/v2/gtfs/vehiclepos/sydneytrains');
  expect(status).toBe(200);
  expect(FeedMessage.decode(body).entity.filter(({ tripUpdate }) => tripUpdate)).toEqual([]);
  expect((await poll('/v1/gtfs/vehiclepos/sydneytrains')).status).toBe(404);
});

it('sandbox feeds freeze for ten minutes when that is rehearsed', async () => {
  const clock = createSimulatedClock(NOW);
  const sandbox = await startSandbox({ apiKey: API_KEY, now: () => new Date(clock.now()) });
  onTestFinished(() => sandbox.close());
  const read = async () => {
    const url = new URL(FEEDS.sydneytrains.path, sandbox.url);
    const response = await fetch(url, { headers: { authorization: `apikey ${API_KEY}` } });
    return Buffer.from(await response.arrayBuffer());
  };
  const before = await read();
  await send(sandbox, 'departure_mon', { name_dm: '99000010' });
  clock.advance(9 * 60_000);
  expect(await read()).toEqual(before);
  clock.advance(60_000);
  const { timestamp } = FeedMessage.decode(await read()).header;
  expect(Number(timestamp)).toBe(Date.parse(NOW) / 1000 + 600);
});
