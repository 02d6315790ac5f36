import { gunzipSync } from 'node:zlib';
import bindings from 'gtfs-realtime-bindings';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { Feed } from '#src/live/feed/feed.ts';
import { readFeed, UndecodableFeed } from '#src/live/feed/feed-reader.ts';
import type { Fault, FaultChooser } from '#src/sandbox/fault.ts';
import { FEEDS, type FeedName } from '#src/sandbox/feeds/feed.ts';
import { API_KEY, sandboxAt } from '../asking.ts';
import { FEED_NAMES } from './played-day.ts';

const NOW = '2026-11-17T21:00:00Z';
const { FeedMessage } = bindings.transit_realtime;

async function poll(
  path: string,
  { fault, headers = {}, now = NOW }: { fault?: FaultChooser; headers?: object; now?: string } = {},
) {
  const sandbox = await sandboxAt(now, fault && { fault });
  const response = await request(new URL(path, sandbox.url), {
    headers: { authorization: `apikey ${API_KEY}`, ...headers },
  });
  const body = Buffer.from(await response.body.arrayBuffer());
  return { status: response.statusCode, headers: response.headers, body };
}

const pollWith = (fault: Fault, name: FeedName = 'sydneytrains') => poll(FEEDS[name].path, { fault: () => fault });

it('every feed is served in protobuf', async () => {
  for (const name of FEED_NAMES) {
    const { status, headers, body } = await poll(FEEDS[name].path);
    expect([status, headers['content-type']]).toEqual([200, 'application/x-google-protobuf']);
    expect(Number(FeedMessage.decode(body).header.timestamp)).toBe(Date.parse(NOW) / 1000);
  }
});

it('without the right key the answer is 401', async () => {
  const { status, body } = await poll(FEEDS.buses.path, { headers: { authorization: 'apikey wrong' } });
  expect(status).toBe(401);
  expect(JSON.parse(body.toString()).ErrorDetails.RequestedUrl).toBe('/v1/gtfs/realtime/buses');
});

it('other feeds and versions are 404', async () => {
  expect((await poll('/v1/gtfs/realtime/sydneytrains')).status).toBe(404);
  expect((await poll('/v1/gtfs/realtime/regionbuses/newenglandnorthwest')).status).toBe(404);
  expect((await poll('/v1/tp/sydneytrains')).status).toBe(404);
});

it('feeds are compressed for clients that accept gzip', async () => {
  const plain = await poll(FEEDS.sydneytrains.path);
  const zipped = await poll(FEEDS.sydneytrains.path, { headers: { 'accept-encoding': 'gzip' } });
  expect([plain.headers['content-encoding'], zipped.headers['content-encoding']]).toEqual([undefined, 'gzip']);
  expect(gunzipSync(zipped.body)).toEqual(plain.body);
});

it('the fault chooser sees the name of the feed and counts its polls', async () => {
  const seen: string[] = [];
  const fault: FaultChooser = ({ endpoint, count }) => {
    seen.push(`${endpoint} ${count}`);
    return undefined;
  };
  await poll(FEEDS.metro.path, { fault });
  expect(seen).toEqual(['metro 1']);
});

it('frozen: the feed of that moment', async () => {
  const at = new Date('2026-11-17T20:00:00Z');
  const { body } = await pollWith({ kind: 'frozen', at });
  expect(new Feed(readFeed(body)).headerAt).toBe(at.getTime());
  expect(body).toEqual((await poll(FEEDS.sydneytrains.path, { now: at.toISOString() })).body);
});

it('halved: half of the trips, with the present timestamp', async () => {
  const whole = new Feed(readFeed((await poll(FEEDS.sydneytrains.path)).body));
  const halved = new Feed(readFeed((await pollWith({ kind: 'halved' })).body));
  expect(halved.headerAt).toBe(whole.headerAt);
  expect(halved.tripCount).toBe(whole.tripCount >> 1);
});

it.each<[string, Fault, number]>([
  [
    'a web page with 200',
    { kind: 'respond', status: 200, body: '<!doctype html>', headers: { 'content-type': 'text/html' } },
    200,
  ],
  ['503', { kind: 'respond', status: 503, body: 'Service Unavailable' }, 503],
  [
    'garbage',
    { kind: 'respond', status: 200, body: 'garbage', headers: { 'content-type': 'application/x-google-protobuf' } },
    200,
  ],
  ['cut off', { kind: 'truncated' }, 200],
])('%s: no feed', async (_, fault, expected) => {
  const { status, body } = await pollWith(fault);
  expect(status).toBe(expected);
  expect(() => readFeed(body)).toThrow(UndecodableFeed);
});

it('positions of vehicles are served under a path of their own', async () => {
  const { status, body } = await poll('/v2/gtfs/vehiclepos/sydneytrains');
  expect(status).toBe(200);
  expect(FeedMessage.decode(body).entity.filter(({ tripUpdate }) => tripUpdate)).toEqual([]);
  expect((await poll('/v1/gtfs/vehiclepos/sydneytrains')).status).toBe(404);
});
