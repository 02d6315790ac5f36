import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MODES } from '#src/transit/mode.ts';
import { expectContract, expectErrorObject } from '#test/contract/expect-contract.ts';
import { GOOD_ANSWERS, goodAnswerTo, OPERATIONS } from '#test/contract/operations.ts';
import { departureMonitorResponse } from '#test/contract/payloads.ts';
import { buildTestApp } from '#test/support/app.ts';
import { startUpstream, type TestUpstream } from '#test/support/upstream.ts';

/** A Wednesday, 16:24 in Sydney. */
const NOW = '2026-04-15T06:24:00Z';

let app: FastifyInstance;
let upstream: TestUpstream;

beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(goodAnswerTo(request.url));
  });
  app = await buildTestApp({ upstream: upstream.url, now: NOW });
});

beforeEach(() => {
  upstream.requests.length = 0;
});

afterAll(async () => {
  await app.close();
  await upstream.close();
});

const DEPARTURES = '/v1/departures?stop=200020';
const NEARBY = '/v1/nearby?lat=-33.8613&lng=151.2108';
const SEARCH = '/v1/stops/search?q=manly';
const TRIPS = '/v1/trips?from=202091&to=G2095102';

const REACHABLE = '/v1/reachable?from=200060';

const COUNT = 'must be a whole number from 1 to';

/** The query, and each part that its error message must have. */
const REFUSED: [url: string, ...told: string[]][] = [
  ['/v1/departures?stop=200020&lead=61', '`lead` must be a whole number from 0 to 60', 'not "61"'],
  ['/v1/departures?stop=200020&lead=-1', '`lead` must be a whole number from 0 to 60'],
  ['/v1/departures?stop=200020&per_route=0', `\`per_route\` ${COUNT} 50`],
  ['/v1/departures?stop=200020&date=2026-11-23&time=2026-11-23T24:00', '`time` must be a Sydney time'],
  ['/v1/trips?from=2%20Park%20St%20Sydney&to=200060', 'Look it up: /v1/places/search?q=2%20Park%20St%20Sydney'],
  ['/v1/trips?from=2%20Park%20St,%20Sydney&to=200060', 'Look it up: /v1/places/search?q=2%20Park%20St%2C%20Sydney'],
  ['/v1/trips?from=Central&to=200060', 'Look it up: /v1/stops/search?q=Central'],
  ['/v1/boards?stops=200060,Town%20Hall', 'not "Town Hall"', 'Look it up: /v1/stops/search?q=Town%20Hall'],
  ['/v1/alerts?category=lifts_escalators,x', '`category` must be some of', 'not "x"'],
  ['/v1/departures', '`stop` is required'],
  ['/v1/departures?stop', '`stop` must be a stop ID such as 200070'],
  ['/v1/departures?stop=', '`stop` must be a stop ID such as 200070'],
  ['/v1/departures?stop=%20', '`stop` must be a stop ID such as 200070', 'not " "'],
  ['/v1/departures?stop=abc', '`stop` must be a stop ID such as 200070', 'not "abc"'],
  ['/v1/departures?stop=-1', '`stop` must be a stop ID such as 200070', 'not "-1"'],
  ['/v1/departures?stop=1.5', '`stop` must be a stop ID such as 200070', 'not "1.5"'],
  [
    '/v1/departures?stop=Town%20Hall',
    '`stop` must be a stop ID such as 200070, not "Town Hall". Look it up: /v1/stops/search?q=Town%20Hall',
  ],
  ['/v1/departures?stop=-2', 'not "-2". Find IDs with /v1/stops/search or /v1/nearby.'],
  ['/v1/departures?stop=G', '`stop` must be a stop ID such as 200070', 'not "G"'],
  ['/v1/departures?stop=1234567890123', '`stop` must be a stop ID such as 200070', 'not "1234567890123"'],
  ['/v1/departures?stop=200060%2C200070', '`stop` must be one stop ID', 'not "200060,200070"'],
  ['/v1/departures?stop=%D9%A1%D9%A2', '`stop` must be a stop ID such as 200070'],
  ['/v1/departures?stop=200020&stop=200060', '`stop` must be given once', 'not ["200020","200060"]'],
  ['/v1/departures?STOP=200020', '`stop` is required'],
  [`${DEPARTURES}&limit=0`, `\`limit\` ${COUNT} 50`, 'not "0"'],
  [`${DEPARTURES}&limit=-1`, `\`limit\` ${COUNT} 50`, 'not "-1"'],
  [`${DEPARTURES}&limit=1.5`, `\`limit\` ${COUNT} 50`, 'not "1.5"'],
  [`${DEPARTURES}&limit=1.0`, `\`limit\` ${COUNT} 50`, 'not "1.0"'],
  [`${DEPARTURES}&limit=%2B1`, `\`limit\` ${COUNT} 50`, 'not "+1"'],
  [`${DEPARTURES}&limit=0x1f`, `\`limit\` ${COUNT} 50`, 'not "0x1f"'],
  [`${DEPARTURES}&limit=1e1`, `\`limit\` ${COUNT} 50`, 'not "1e1"'],
  [`${DEPARTURES}&limit=%20`, `\`limit\` ${COUNT} 50`, 'not " "'],
  [`${DEPARTURES}&limit=%205`, `\`limit\` ${COUNT} 50`, 'not " 5"'],
  [`${DEPARTURES}&limit=ten`, `\`limit\` ${COUNT} 50`, 'not "ten"'],
  [`${DEPARTURES}&limit=NaN`, `\`limit\` ${COUNT} 50`, 'not "NaN"'],
  [`${DEPARTURES}&limit=Infinity`, `\`limit\` ${COUNT} 50`, 'not "Infinity"'],
  [`${DEPARTURES}&limit=1_000`, `\`limit\` ${COUNT} 50`, 'not "1_000"'],
  [`${DEPARTURES}&limit=5&limit=6`, '`limit` must be given once', 'not ["5","6"]'],
  [`${DEPARTURES}&limit=5&limit=5`, '`limit` must be given once'],
  [`${DEPARTURES}&modes=tram`, '`modes` must be all or some of', '"tram"', ...MODES],
  [
    `${DEPARTURES}&modes=bus,tram,plane`,
    'schoolbus, separated by commas, not "tram", "plane". Did you mean `lightrail`?',
  ],
  [`${DEPARTURES}&modes=tram`, 'not "tram". Did you mean `lightrail`?'],
  [`${DEPARTURES}&modes=rail`, 'not "rail". Did you mean `train`?'],
  [`${TRIPS}&modes=light_rail,Buses,subway`, 'Did you mean `metro`, `lightrail` and `bus`?'],
  [`${DEPARTURES}&modes=Bus,TRAM`, 'schoolbus, separated by commas, not "TRAM". Did you mean `lightrail`?'],
  [`${DEPARTURES}&modes=bus,a%22%0Ab`, 'not "a\\"\\nb".'],
  [`${DEPARTURES}&modes=walk`, 'schoolbus, separated by commas, not "walk".'],
  [`${DEPARTURES}&modes=,`, '`modes` must be all or some of', 'not ","'],
  [`${DEPARTURES}&modes=%20`, '`modes` must be all or some of', 'not " "'],
  [`${DEPARTURES}&modes=bus;train`, 'not "bus;train"'],
  [
    `${DEPARTURES}&routes=${Array.from({ length: 51 }, (_, route) => route)}`,
    '`routes` must be',
    '50 short route names',
  ],
  [`${DEPARTURES}&date=2026-04-1`, '`date` must be a date such as 20261130 or 2026-11-30, not "2026-04-1".'],
  [`${DEPARTURES}&date=2026-0416`, '`date` must be a date such as 20261130 or 2026-11-30'],
  [`${DEPARTURES}&date=tomorrow`, '`date` must be a date such as 20261130 or 2026-11-30, not "tomorrow".'],
  [`${DEPARTURES}&date=20270231`, '`date` must be a day that exists, such as 20261130, not "20270231".'],
  [`${DEPARTURES}&date=2027-02-29`, '`date` must be a day that exists, such as 20261130, not "2027-02-29".'],
  [`${DEPARTURES}&date=20261301`, '`date` must be a day that exists'],
  [`${DEPARTURES}&time=2400`, '`time` must be a Sydney time such as 0830 or 08:30', 'not "2400"'],
  [`${DEPARTURES}&time=0860`, '`time` must be a Sydney time such as 0830 or 08:30'],
  [`${DEPARTURES}&time=800`, '`time` must be a Sydney time such as 0830 or 08:30'],
  [`${DEPARTURES}&time=24:00`, '`time` must be a Sydney time such as 0830 or 08:30', 'not "24:00"'],
  [`${DEPARTURES}&time=8:00`, '`time` must be a Sydney time such as 0830 or 08:30', 'not "8:00"'],
  [`${DEPARTURES}&time=8am`, '`time` must be a Sydney time such as 0830 or 08:30'],
  [`${DEPARTURES}&date=20260416&date=20260417`, '`date` must be given once'],
  [
    '/v1/alerts?category=lifts',
    '`category` must be some of trackwork, service_change, lifts_escalators',
    'not "lifts"',
  ],
  [`${DEPARTURES}&cancelled=yes`, '`cancelled` must be exclude or include', 'not "yes"'],
  [`${DEPARTURES}&cancelled=true`, '`cancelled` must be exclude or include'],
  [`${DEPARTURES}&cancelled=include&cancelled=include`, '`cancelled` must be given once'],
  [
    `${DEPARTURES}&include=all`,
    '`include` must be some of ids, colors, alert_texts, access, delay, calls, carriages, occupancy, through, usual, separated by commas',
    'not "all"',
  ],
  [`${NEARBY}&include=id`, '`include` must be some of ids, carparks', '"id"'],
  [`${TRIPS}&cancelled=Include`, '`cancelled` must be exclude or include', 'not "Include"'],
  [`${TRIPS}&include=ids,stops`, '`include` must be some of ids, colors, alert_texts, calls, access', '"stops"'],
  ['/v1/departures?limit=0&modes=tram&time=99', '`stop` is required', '`limit` must', '`modes` must', '`time` must'],

  ['/v1/nearby', '`lat` is required', '`lng` is required'],
  [
    '/v1/nearby?lat=&lng=',
    '`lat` must be a decimal number from -90 to 90',
    '`lng` must be a decimal number from -180 to 180',
  ],
  ['/v1/nearby?lat=-33.8', '`lng` is required'],
  ['/v1/nearby?lat=abc&lng=151.2', '`lat` must be a decimal number from -90 to 90', 'not "abc"'],
  ['/v1/nearby?lat=0x1f&lng=151.2', '`lat` must be a decimal number', 'not "0x1f"'],
  ['/v1/nearby?lat=1e1&lng=151.2', '`lat` must be a decimal number', 'not "1e1"'],
  ['/v1/nearby?lat=%20&lng=151.2', '`lat` must be a decimal number', 'not " "'],
  ['/v1/nearby?lat=.&lng=151.2', '`lat` must be a decimal number', 'not "."'],
  ['/v1/nearby?lat=-&lng=151.2', '`lat` must be a decimal number', 'not "-"'],
  ['/v1/nearby?lat=-33,8&lng=151,2', '`lat` must be a decimal number', '`lng` must be a decimal number', 'not "151,2"'],
  ['/v1/nearby?lat=-90.001&lng=151.2', '`lat` must be a decimal number from -90 to 90', 'not "-90.001"'],
  ['/v1/nearby?lat=-33.8&lng=180.1', '`lng` must be a decimal number from -180 to 180', 'not "180.1"'],
  ['/v1/nearby?lat=999&lng=999', '`lat` must be a decimal number', '`lng` must be a decimal number'],
  ['/v1/nearby?lat=-33.8&lat=-33.9&lng=151.2', '`lat` must be given once', 'not ["-33.8","-33.9"]'],
  ['/v1/nearby?lat=151.2108&lng=-33.8613', '`lat` and `lng` seem to be swapped: in Sydney `lat` is about'],
  [`${NEARBY}&radius=0`, `\`radius\` ${COUNT} 2000`, 'not "0"'],
  [`${NEARBY}&radius=-5`, `\`radius\` ${COUNT} 2000`],
  [`${NEARBY}&radius=99.9`, `\`radius\` ${COUNT} 2000`, 'not "99.9"'],
  [`${NEARBY}&radius=1km`, `\`radius\` ${COUNT} 2000`],
  [`${NEARBY}&limit=0`, `\`limit\` ${COUNT} 50`],
  [`${NEARBY}&modes=boat`, '`modes` must be all or some of', 'not "boat"'],

  ['/v1/stops/search', '`q` is required'],
  ['/v1/stops/search?q=', '`q` must be 1 to 100 characters, but is blank.'],
  ['/v1/stops/search?q=%20%09', '`q` must be 1 to 100 characters, but is blank.'],
  [`/v1/stops/search?q=${'a'.repeat(101)}`, '`q` must be 1 to 100 characters', 'not "aaa'],
  ['/v1/stops/search?q=a&q=b', '`q` must be given once', 'not ["a","b"]'],
  ['/v1/stops/search?q=a%00b', '`q` must not contain control characters', 'not "a\\u0000b"'],
  ['/v1/stops/search?q=a%0Ab', '`q` must not contain control characters'],
  ['/v1/stops/search?q=%C2%9F', '`q` must not contain control characters'],
  ['/v1/places/search', '`q` is required'],
  ['/v1/stops?bbox=-33.9,151.1,-33.8,151.2&radius=300', '`radius` works only with `near`.'],
  ['/v1/carparks?bbox=-33.9,151.1,-33.8,151.2&radius=300', '`radius` works only with `near`.'],
  ['/v1/vehicles?line=train_T1&radius=300', '`radius` works only with `lat` and `lng`.'],
  [`${SEARCH}&near=sydney`, '`near` must be lat,lng'],
  [`${SEARCH}&near=151.2,-33.8`, '`near` must be lat,lng, not "151.2,-33.8". `lat` and `lng` seem to be swapped'],
  [`/v1/trips?to=200060&from=poiID:${'8'.repeat(200)}`, '`from` must be a place ID', 'up to 200 bytes'],
  ['/v1/trips?to=200060&from=poiID:8%0AX', '`from` must be a place ID', 'no control characters'],
  ['/v1/trips?to=poiID:8:X&from=poiID:8:X', '`to` must differ from `from`'],
  ['/v1/trips?to=200060&from=javascript:alert(1)', '`from` must be a stop ID such as 200070'],
  ['/v1/stops/search?q=caf%E9', '`q` must be percent-encoded as UTF-8', 'not "caf%E9"'],
  [`${SEARCH}&limit=0`, `\`limit\` ${COUNT} 50`],

  ['/v1/reachable', '`from` is required'],
  ['/v1/reachable?from=Central', '`from` must be a stop ID such as 200070', 'not "Central"'],
  [`${REACHABLE}&minutes=0`, `\`minutes\` ${COUNT} 90`, 'not "0"'],
  [`${REACHABLE}&minutes=half`, `\`minutes\` ${COUNT} 90`, 'not "half"'],
  [`${REACHABLE}&limit=0`, `\`limit\` ${COUNT} 5000`],
  [`${REACHABLE}&modes=tram`, 'Did you mean `lightrail`?'],
  [`${REACHABLE}&wheelchair=on`, '`wheelchair` must be true or false'],
  [`${REACHABLE}&format=kml`, '`format` must be json or geojson', 'not "kml"'],
  [`${REACHABLE}&date=20260431`, '`date` must be a day that exists'],
  [`${REACHABLE}&time=2360`, '`time` must be a Sydney time such as 0830 or 08:30'],
  ['/v1/travel-times', '`from` is required', '`to` is required: 1 to 10 stop IDs separated by commas'],
  ['/v1/travel-times?from=200060&to=', '`to` must be 1 to 10 stop IDs separated by commas'],
  ['/v1/travel-times?from=200060&to=200070,Manly', '`to` must be 1 to 10 stop IDs', 'not "Manly"'],
  ['/v1/travel-times?from=200060&to=200070,200060', '`to` must not include `from`'],
  [`/v1/travel-times?from=200060&to=${Array.from({ length: 11 }, (_, stop) => stop)}`, '`to` has too many stops: 11'],

  ['/v1/trips', '`from` is required', '`to` is required'],
  ['/v1/trips?from=202091', '`to` is required'],
  ['/v1/trips?to=202091', '`from` is required'],
  ['/v1/trips?from=&to=', '`from` must be a stop ID such as 200070', '`to` must be a stop ID such as 200070'],
  ['/v1/trips?from=Central&to=Manly', '`from` must be a stop ID such as 200070', 'not "Central"', 'not "Manly"'],
  ['/v1/trips?from=202091&to=202091', '`to` must differ from `from`', 'not "202091"'],
  ['/v1/trips?from=G2095102&to=g2095102', '`to` must differ from `from`'],
  ['/v1/trips?from=202091&to=202091&limit=0', '`to` must differ from `from`', '`limit` must'],
  [
    '/v1/trips?from=202091&to=-33.8',
    '`to` must be a stop ID such as 200070',
    'or a position as lat,lng',
    'not "-33.8"',
  ],
  ['/v1/trips?from=-33.8,&to=-91,151', '`from` must be lat,lng', '`to` must be lat,lng', 'a latitude from -90 to 90'],
  ['/v1/trips?from=-33.8,151.2,5&to=202091', '`from` must be lat,lng', 'not "-33.8,151.2,5"'],
  ['/v1/trips?from=-33.8,1e2&to=0,180.1', '`from` must be lat,lng', '`to` must be lat,lng', 'from -180 to 180'],
  [
    '/v1/trips?from=151.2108,-33.8613&to=202091',
    'must be lat,lng, not "151.2108,-33.8613". `lat` and `lng` seem to be swapped',
  ],
  ['/v1/trips?from=-33.80,151.2&to=%20-33.8,%20151.200', '`to` must differ from `from`'],
  ['/v1/trips?from=202091&to=200070&via=202091@5', '`via` must name stops other than `from`, `to` and the one before'],
  [
    '/v1/trips?from=202091&to=200070&via=202020,200070',
    '`via` must name stops other than `from`, `to` and the one before',
  ],
  [
    '/v1/trips?from=202091&to=200070&via=202020,202020@5',
    '`via` must name stops other than `from`, `to` and the one before',
  ],
  ['/v1/trips?from=-33.8,151.2&from=202091&to=202091', '`from` must be given once'],
  [`${TRIPS}&modes=tram`, '`modes` must be all or some of', 'not "tram"'],
  [`${TRIPS}&modes=walk`, 'not "walk"'],
  [`${TRIPS}&wheelchair=on`, '`wheelchair` must be true or false', 'not "on"'],
  [`${TRIPS}&max_changes=-1`, '`max_changes` must be a whole number from 0 to 9', 'not "-1"'],
  [`${TRIPS}&max_changes=none`, '`max_changes` must be a whole number from 0 to 9', 'not "none"'],
  [`${TRIPS}&booking=no`, '`booking` must be include or exclude', 'not "no"'],
  [`${TRIPS}&limit=0`, `\`limit\` ${COUNT} 6`],
  [`${TRIPS}&via=Central`, '`via` must be 1 or 2 stop IDs separated by commas', 'not "Central"'],
  [`${TRIPS}&via=1,2,3`, '`via` must be 1 or 2 stop IDs', 'not "1,2,3"'],
  [`${TRIPS}&via=200070@241`, 'an optional stay of 0 to 240 minutes', 'not "200070@241"'],
  [`${TRIPS}&via=200070@5@6`, 'not "200070@5@6"'],
  [`${TRIPS}&pace=walk`, '`pace` must be slow, normal or fast', 'not "walk"'],
  [`${TRIPS}&pace=Slow`, '`pace` must be slow, normal or fast', 'not "Slow"'],
  [`${TRIPS}&pace=slow&pace=fast`, '`pace` must be given once'],
  [`${TRIPS}&min_change=-1`, '`min_change` must be a whole number from 0 to 60', 'not "-1"'],
  [`${TRIPS}&min_change=61`, '`min_change` must be a whole number from 0 to 60', 'not "61"'],
  [`${TRIPS}&max_walk=1e9`, '`max_walk` must be a whole number from 0 to 1000', 'not "1e9"'],
  [`${TRIPS}&max_walk=1001`, '`max_walk` must be a whole number from 0 to 1000', 'not "1001"'],
  [`${TRIPS}&prefer=fast`, '`prefer` must be fewer_changes or less_walking', 'not "fast"'],
  [
    `${TRIPS}&pace=walk&min_change=-1&max_walk=1e9&prefer=fast`,
    '`pace` must be slow',
    '`min_change` must be',
    '`max_walk` must be',
    '`prefer` must be',
  ],
  ['/v1/reachable?from=200060&pace=walk', '`pace` must be slow, normal or fast', 'not "walk"'],
  ['/v1/reachable?from=200060&max_walk=far', '`max_walk` must be a whole number from 0 to 1000'],
  ['/v1/travel-times?from=200060&to=209573&max_walk=-5', '`max_walk` must be a whole number from 0 to 1000'],
  ['/v1/travel-times?from=200060&to=209573&pace=run', '`pace` must be slow, normal or fast', 'not "run"'],
  [`${TRIPS}&pace=slow`, '`pace` works only with journeys from the timetable, which is not used here. Leave it out.'],
  [
    `${TRIPS}&min_change=2&max_walk=300&prefer=less_walking`,
    '`max_walk` works only with',
    '`min_change` works only with',
    '`prefer` works only with',
  ],
  [`${TRIPS}&arrive_by=yes`, '`arrive_by` must be true or false', 'not "yes"'],
  [`${TRIPS}&arrive_by=1`, '`arrive_by` must be true or false', 'not "1"'],
  [`${TRIPS}&arrive_by=true&arrive_by=true`, '`arrive_by` must be given once'],
  [`${TRIPS}&date=20260431`, '`date` must be a day that exists'],
  [`${TRIPS}&time=2360`, '`time` must be a Sydney time such as 0830 or 08:30'],

  ['/v1/lines?q=%20', '`q` must be 1 to 100 characters, but is blank.'],
  [`/v1/lines?q=${'a'.repeat(101)}`, '`q` must be 1 to 100 characters'],
  ['/v1/lines?modes=tram', '`modes` must be all or some of', 'Did you mean `lightrail`?'],
  ['/v1/lines?stop=central', '`stop` must be a stop ID such as 200070'],
  ['/v1/lines?bbox=-34,151,-33.4,151.2', '`bbox` must span at most 0.5 degrees each way'],
  ['/v1/stops?bbox=-34,151,-33.4,151.2', 'each way, not "-34,151,-33.4,151.2". /v1/stops.ndjson has all stops.'],
  ['/v1/lines?bbox=151.2,-33.9,151.3,-33.8', '`lat` and `lng` seem to be swapped'],
  ['/v1/lines?limit=0', `\`limit\` ${COUNT} 1000`],
  ['/v1/lines/a%20b', '`line_id` must be a line ID such as train_T1 or 2507_333', 'not "a b"', '/v1/lines?q='],
  ['/v1/lines/train_T1?format=xml', '`format` must be json or geojson'],
  ['/v1/lines/train_T1?date=tomorrow', '`date` must be a date such as 20261130'],
  ['/v1/lines/train_T1/timetable?direction=2', '`direction` must be 0 or 1', 'not "2"'],
  ['/v1/lines/train_T1/timetable?time=25', '`time` must be a Sydney time such as 0830 or 08:30'],
  ['/v1/lines/train_T1/timetable?limit=none', `\`limit\` ${COUNT} 2000`],
];

/** The query, and the message about its parameter without effect. */
const WITHOUT_EFFECT: [url: string, told: string][] = [
  [`${DEPARTURES}&mode=train`, 'Unknown parameter `mode`. Did you mean `modes`?'],
  [`${DEPARTURES}&route=324`, 'Unknown parameter `route`. Did you mean `routes`?'],
  [`${DEPARTURES}&stops=1`, 'Unknown parameter `stops`. Did you mean `stop`?'],
  [`${DEPARTURES}&Limit=5`, 'Unknown parameter `Limit`. Did you mean `limit`?'],
  [`${DEPARTURES}&limti=5`, 'Unknown parameter `limti`. Did you mean `limit`?'],
  [`${DEPARTURES}&limt=5`, 'Unknown parameter `limt`. Did you mean `limit`?'],
  [`${DEPARTURES}&limkt=5`, 'Unknown parameter `limkt`. Did you mean `limit`?'],
  [`${DEPARTURES}&modes=all&mode=train`, 'Unknown parameter `mode`. Did you mean `modes`?'],
  [`${DEPARTURES}&mode=train&mode=bus`, 'Unknown parameter `mode`. Did you mean `modes`?'],
  ['/v1/departures?stop_id=200020', 'Unknown parameter `stop_id`. Did you mean `stop`?'],
  ['/v1/nearby?lat=-33.8&lon=151.2', 'Unknown parameter `lon`. Did you mean `lng`?'],
  ['/v1/nearby?lat=-33.8&long=151.2', 'Unknown parameter `long`. Did you mean `lng`?'],
  ['/v1/nearby?latitude=-33.8&longitude=151.2', 'Unknown parameter `latitude`. Did you mean `lat`?'],
  ['/v1/nearby?latitude=-33.8&longitude=151.2', 'Unknown parameter `longitude`. Did you mean `lng`?'],
  [`${NEARBY}&raduis=100`, 'Unknown parameter `raduis`. Did you mean `radius`?'],
  [`${NEARBY}&date=20260416`, 'Unknown parameter `date`. /v1/nearby takes lat, lng, radius, limit, modes and include.'],
  ['/v1/stops/search?query=manly', 'Unknown parameter `query`. Did you mean `q`?'],
  [`${TRIPS}&page=2`, 'Unknown parameter `page`. For the next page use `cursor`'],
  [`${TRIPS}&max_walk_distance=300`, 'Unknown parameter `max_walk_distance`. Did you mean `max_walk`?'],
  [`${TRIPS}&minChange=5`, 'Unknown parameter `minChange`. Did you mean `min_change`?'],
  [`${TRIPS}&arriveBy=true`, 'Unknown parameter `arriveBy`. Did you mean `arrive_by`?'],
  [`${TRIPS}&mode=train`, 'Unknown parameter `mode`. Did you mean `modes`?'],
  [`${TRIPS}&changes=1`, 'Unknown parameter `changes`. Did you mean `max_changes`?'],
  [`${TRIPS}&arrive=true`, 'Unknown parameter `arrive`. Did you mean `arrive_by`?'],
  [`${TRIPS}&maxTransfers=0`, 'Unknown parameter `maxTransfers`. Did you mean `max_changes`?'],
  [`${TRIPS}&max-transfers=0`, 'Unknown parameter `max-transfers`. Did you mean `max_changes`?'],
  [`${TRIPS}&avoid=ferry`, 'Unknown parameter `avoid`. No such filter exists. `modes` lists the modes to use.'],
  [`${DEPARTURES}&departureTime=0800`, 'Unknown parameter `departureTime`. Give the day as `date`'],
  [`${TRIPS}&routes=T1`, 'Unknown parameter `routes`. /v1/trips takes from, to, date'],
  [`${DEPARTURES}&wheelchair=true`, 'Unknown parameter `wheelchair`. On departures `include=access` adds'],
  [`${DEPARTURES}&canceled=include`, 'Unknown parameter `canceled`. Did you mean `cancelled`?'],
  [`${NEARBY}&cancelled=include`, 'Unknown parameter `cancelled`.'],
  [`${SEARCH}&include=ids`, 'Unknown parameter `include`.'],
  [`${DEPARTURES}&datetime=2026-04-15`, 'Unknown parameter `datetime`. Give the day as `date` (YYYYMMDD)'],
  [`${DEPARTURES}&when=now`, 'Unknown parameter `when`. Give the day as `date`'],
  [`${TRIPS}&depart_at=0800`, 'Unknown parameter `depart_at`. Give the day as `date`'],
  [
    `${TRIPS}&arrive_at=0800`,
    'Unknown parameter `arrive_at`. Give the day as `date` (YYYYMMDD) and the time as `time` (HHmm)',
  ],
  [`${TRIPS}&arrive_at=0800`, 'on /v1/trips add `arrive_by=true`'],
  [`${DEPARTURES}&page=2`, 'Unknown parameter `page`. For the next page use `cursor`'],
  [`${DEPARTURES}&offset=10`, 'Unknown parameter `offset`. For the next page use `cursor`'],
  [
    '/v1/boards?stops=200060&cursor=abc',
    'Unknown parameter `cursor`. Only /v1/departures and /v1/arrivals (one stop) and /v1/trips take it.',
  ],
  [
    '/v1/departures/stream?stop=200060&cursor=abc',
    'Unknown parameter `cursor`. Only /v1/departures and /v1/arrivals (one stop) and /v1/trips take it.',
  ],
  ['/v1/departures/stream?stop=200060&bbox=1', 'Unknown parameter `bbox`. /v1/departures/stream takes stop'],
  [
    `${NEARBY}&cursor=abc`,
    'Unknown parameter `cursor`. Only /v1/departures and /v1/arrivals (one stop) and /v1/trips take it.',
  ],
  [`${DEPARTURES}&count=5`, 'Unknown parameter `count`. Did you mean `limit`?'],
  [`${NEARBY}&max=5`, 'Unknown parameter `max`. Did you mean `limit`?'],
  [`${NEARBY}&distance=100`, 'Unknown parameter `distance`. Did you mean `radius`?'],
  [`${DEPARTURES}&platform=3`, 'Unknown parameter `platform`. No such filter exists'],
  [`${DEPARTURES}&line=T1`, 'Unknown parameter `line`. Did you mean `routes`?'],
  ['/v1/trips?origin=202020&destination=209573', 'Unknown parameter `origin`. Did you mean `from`?'],
  ['/v1/trips?origin=202020&destination=209573', 'Unknown parameter `destination`. Did you mean `to`?'],
  [`${DEPARTURES}&destination=209573`, 'Unknown parameter `destination`. Did you mean `to`?'],
  [`${DEPARTURES}&origin=209573`, 'Unknown parameter `origin`. /v1/departures takes stop'],
  ['/v1/departures?id=200060', 'Unknown parameter `id`. Did you mean `stop`?'],
  ['/v1/nearby?ll=-33.87,151.2', 'Unknown parameter `ll`. Give a position as `lat` and `lng` on /v1/nearby'],
  [
    `${NEARBY}&format=geojson`,
    'Unknown parameter `format`. Only /v1/stops (with `near` or `bbox`), /v1/vehicles, /v1/lines/{line_id}, /v1/reachable and',
  ],
  [`${DEPARTURES}&accessible=true`, 'Unknown parameter `accessible`. On departures `include=access` adds'],
  ['/v1/departures?station=200060', 'Unknown parameter `station`. Did you mean `stop`?'],
  [`${DEPARTURES}&type=train`, 'Unknown parameter `type`. Did you mean `modes`?'],
  [`${DEPARTURES}&direction=north`, 'Unknown parameter `direction`. Only /v1/lines/{line_id}/timetable takes it'],
  ['/v1/nearby?latlng=-33.87,151.2', 'Unknown parameter `latlng`. Give a position as `lat` and `lng` on /v1/nearby'],
  ['/v1/stops/search?name=central', 'Unknown parameter `name`. Did you mean `q`?'],
  [
    '/v1/departures?stop=200070,200060',
    '`stop` must be one stop ID, not "200070,200060". For several stops use /v1/boards.',
  ],
  ['/v1/departures?stop=200070&stop=200060', '`stop` must be given once; /v1/boards takes several stops, not ['],
  [`${DEPARTURES}&lang=de`, 'Unknown parameter `lang`. All texts are in English.'],
  ...['apikey', 'api_key', 'key', 'token'].map((name): [string, string] => [
    `${DEPARTURES}&${name}=abc123`,
    `Unknown parameter \`${name}\`. Send the key in the header \`Authorization: Bearer YOUR_KEY\`, never in a URL.`,
  ]),
];

describe('an invalid query', () => {
  it.each(REFUSED)(
    'the query %s is 400 with the problem, the value received and what is allowed',
    async (url, ...told) => {
      const response = await app.inject(url);
      expect(response.statusCode).toBe(400);
      expectErrorObject(response);
      const { code, message } = response.json().error;
      expect(code).toBe('INVALID_PARAMETER');
      for (const part of told) expect(message).toContain(part);
      expect(message).not.toMatch(/undefined|querystring|NaN(?!")|\[object|ZodError|Invalid input/);
      expect(upstream.requests).toStrictEqual([]);
    },
  );

  it('equal ends are reported without a word about `via`, which was not sent', async () => {
    const { message } = (await app.inject('/v1/trips?from=200070&to=200070')).json().error;
    expect(message).toBe('`to` must differ from `from`, not "200070".');
  });

  it.each(WITHOUT_EFFECT)('the query %s is 400, because one of its parameters would be ignored', async (url, told) => {
    const response = await app.inject(url);
    expect(response.statusCode).toBe(400);
    expectErrorObject(response);
    expect(response.json().error.message).toContain(told);
    expect(response.json().error.message).not.toContain('..');
    expect(upstream.requests).toStrictEqual([]);
  });

  it('a 400 does not repeat the value of a parameter that may contain a key', async () => {
    const { statusCode, body } = await app.inject(`${DEPARTURES}&api_key=abc123`);
    expect(statusCode).toBe(400);
    expect(body).toContain('api_key');
    expect(body).not.toContain('abc123');
  });

  it('a 400 names at most a few parameters without effect', async () => {
    const names = [...'abcdefghijklmnopqrstuvwxyz'].map((letter) => `modes${letter}=1`);
    const { message } = (await app.inject(`${DEPARTURES}&${names.join('&')}`)).json().error;
    expect(message.match(/Unknown parameter/g)).toHaveLength(5);
  });

  it.each(['lat=-91&lng=0', 'lat=151.2&lng=0', 'lat=95&lng=45', 'lat=100&lng=-80', 'lat=181&lng=-33'])(
    'the point %s is not reported as swapped, because the swapped point is not in Australia',
    async (query) => {
      const { message } = (await app.inject(`/v1/nearby?${query}`)).json().error;
      expect(message).toContain('`lat` must be a decimal number from -90 to 90');
      expect(message).not.toContain('swapped');
    },
  );

  it('a 400 reports every problem once', async () => {
    const { message } = (await app.inject('/v1/departures?stop=x&limit=x&modes=x&date=x&time=x')).json().error;
    for (const name of ['stop', 'limit', 'modes', 'date', 'time']) {
      expect(message.match(new RegExp(`\`${name}\` must`, 'g'))).toHaveLength(1);
    }
  });

  it('a 400 does not repeat a huge value in full', async () => {
    const { message } = (await app.inject(`/v1/departures?stop=${'9'.repeat(5000)}`)).json().error;
    expect(message.length).toBeLessThan(400);
  });

  it.each([
    `${DEPARTURES}&date=20260413`,
    `${DEPARTURES}&date=19000101&time=0800`,
    `${DEPARTURES}&time=2026-04-13T13:59Z`,
    `${TRIPS}&date=20260413`,
  ])('the query %s, for a past day, is DATE_OUT_OF_RANGE', async (url) => {
    const response = await app.inject(url);
    expect(response.statusCode).toBe(400);
    expectErrorObject(response);
    expect(response.json().error.code).toBe('DATE_OUT_OF_RANGE');
    expect(response.json().error.message).toContain('20260414');
    expect(upstream.requests).toStrictEqual([]);
  });
});

/** The query, and the parameters of the upstream request. */
const ACCEPTED: [url: string, expected: Record<string, string | null>][] = [
  [`${DEPARTURES}&limit=51`, {}],
  [`${DEPARTURES}&limit=999999999999999999999999`, {}],
  [`${DEPARTURES}&limit=${'9'.repeat(400)}`, {}],
  [`${DEPARTURES}&limit=007`, {}],
  [
    `${DEPARTURES}&limit=&modes=&routes=&date=&time=&cancelled=&include=`,
    { itdDate: null, itdTime: null, exclMOT_1: '1', exclMOT_5: null },
  ],
  [`${DEPARTURES}&modes=TRAIN`, { exclMOT_1: null, exclMOT_5: '1' }],
  [`${DEPARTURES}&modes=%20Train%20,%20,bus,train`, { exclMOT_1: null, exclMOT_5: null, exclMOT_9: '1' }],
  [`${DEPARTURES}&modes=All`, { excludedMeans: null }],
  [`${DEPARTURES}&modes=all,bus`, { excludedMeans: null }],
  [`${DEPARTURES}&modes=ferry,ALL`, { excludedMeans: null }],
  [`${DEPARTURES}&modes=${MODES}`, { excludedMeans: null }],
  ['/v1/departures?stop=%20g200020%20', { name_dm: 'G200020' }],
  ['/v1/departures?stop=200000000001', { name_dm: '200000000001' }],
  [`${DEPARTURES}&time=0800`, { itdDate: '20260415', itdTime: '0800' }],
  [`${DEPARTURES}&date=20260416`, { itdDate: '20260416', itdTime: '1624' }],
  [`${DEPARTURES}&date=2026-04-16&time=08:00`, { itdDate: '20260416', itdTime: '0800' }],
  [`${TRIPS}&date=2026-04-16&time=23:59`, { itdDate: '20260416', itdTime: '2359' }],
  [`${DEPARTURES}&date=20280229&time=2359`, { itdDate: '20280229', itdTime: '2359' }],
  [`${DEPARTURES}&date=20261004&time=0230`, { itdDate: '20261004', itdTime: '0230' }],
  [`${DEPARTURES}&nothing=&key=&=&&constructor=&__proto__=`, {}],
  [`${DEPARTURES}&format=json&_=1&ts=1&nocache=x`, {}],
  [`${DEPARTURES}&modes=bus&modes=train`, { exclMOT_1: null, exclMOT_5: null, exclMOT_9: '1' }],
  [`${DEPARTURES}&modes[]=bus&modes%5B%5D=train`, { exclMOT_1: null, exclMOT_5: null, exclMOT_9: '1' }],
  [`${DEPARTURES}&modes[0]=bus&modes[1]=train,ferry`, { exclMOT_1: null, exclMOT_5: null, exclMOT_9: null }],
  [`${DEPARTURES}&routes=324&routes=325`, {}],
  [`${DEPARTURES}&mode=&lon=`, {}],
  [`${NEARBY}&radius=2001`, { coord: '151.2108:-33.8613:EPSG:4326', radius_1: '2000' }],
  [`${NEARBY}&radius=99999999999999999999`, { radius_1: '2000' }],
  [`${NEARBY}&radius=&limit=&modes=`, { radius_1: '500' }],
  ['/v1/nearby?lat=-90&lng=-180', { coord: '-180:-90:EPSG:4326' }],
  ['/v1/nearby?lat=-0&lng=180.0', { coord: '180:0:EPSG:4326' }],
  ['/v1/nearby?lat=.5&lng=5.', { coord: '5:0.5:EPSG:4326' }],
  [`/v1/nearby?lat=-33.${'8'.repeat(300)}&lng=151.2`, {}],
  [`${SEARCH}&limit=`, { name_sf: 'manly' }],
  ['/v1/stops/search?q=%20Manly%20%26%20Co%20', { name_sf: 'manly & co' }],
  ['/v1/stops/search?q=a+b', { name_sf: 'a b' }],
  ['/v1/stops/search?q=%E2%9C%88', { name_sf: '✈' }],
  ['/v1/stops/search?q=1', { name_sf: '1' }],
  [`${TRIPS}&limit=7`, { calcNumberOfTrips: '6' }],
  [`${TRIPS}&arrive_by=&date=&time=&limit=`, { depArrMacro: 'dep', itdDate: null }],
  [`${TRIPS}&arrive_by=true`, { depArrMacro: 'arr' }],
  [`${TRIPS}&arrive_by=false`, { depArrMacro: 'dep' }],
  [`${TRIPS}&modes=&wheelchair=&max_changes=`, { excludedMeans: null, wheelchair: null, type_origin: 'any' }],
  [`${TRIPS}&modes=train,ferry`, { excludedMeans: 'checkbox', exclMOT_1: null, exclMOT_5: '1', exclMOT_9: null }],
  [`${TRIPS}&wheelchair=TRUE&max_changes=99`, { wheelchair: 'on' }],
  [`${TRIPS}&wheelchair=false`, { wheelchair: null }],
  [
    '/v1/trips?from=%20-33.9336,%20151.1809&to=G2095102',
    { type_origin: 'coord', name_origin: '151.1809:-33.9336:EPSG:4326', type_destination: 'any' },
  ],
  // Place IDs contain blanks, commas and colons. What looks like further parameters stays in the value.
  [
    '/v1/trips?from=poiID:8:-1:St%20Mary%27s,%20X%26name_destination%3D1%26:GDAV&to=suburbID:9:Epping:GDAV',
    {
      type_origin: 'any',
      name_origin: "poiID:8:-1:St Mary's, X&name_destination=1&:GDAV",
      name_destination: 'suburbID:9:Epping:GDAV',
    },
  ],
  ['/v1/trips?from=g2095102&to=202091', { name_origin: 'G2095102', name_destination: '202091' }],
];

describe('a number above its maximum', () => {
  it.each([
    [`${NEARBY}&radius=5000`, '`radius` is at most 2000: that was used in place of 5000.'],
    [`${DEPARTURES}&limit=51`, '`limit` is at most 50: that was used in place of 51.'],
  ])('is reduced in %s, and a notice says so', async (url, notice) => {
    for (const _ of ['computed', 'cached']) {
      const { statusCode, headers } = await app.inject(url);
      expect([statusCode, headers['x-notice']]).toEqual([200, expect.stringContaining(notice)]);
    }
    expect((await app.inject(url.replace(/\d+$/, '50'))).headers['x-notice'] ?? '').not.toContain('at most');
  });
});

describe('an unknown parameter', () => {
  it.each([
    'utm_source=app&utm_medium=mail',
    'fbclid=1&gclid=2',
    '_=1700000000&cb=1&ts=2&nocache=1',
    'format=json',
    'FORMAT=JSON',
    'colour=',
  ])('the unknown parameter in %s is ignored', async (query) => {
    const response = await app.inject(`${DEPARTURES}&${query}`);
    expect([response.statusCode, response.json()]).toEqual([200, (await app.inject(DEPARTURES)).json()]);
  });

  it.each(OPERATIONS.map(({ url }) => url))(
    'an unknown parameter is 400 on %s, and the message lists the known ones',
    async (url) => {
      const response = await app.inject(`${url}${url.includes('?') ? '&' : '?'}colour=red`);
      expect(response.statusCode).toBe(400);
      expect(response.json().error.message).toMatch(/Unknown parameter `colour`\. \/v1\/\S+ takes/);
    },
  );

  it('an unknown parameter that other operations have is refused, and the message names all of these operations', async () => {
    const { paths } = (await app.inject('/openapi.json')).json();
    const takers = (name: string) =>
      Object.keys(paths).filter(
        (path) =>
          !path.endsWith('/stream') && paths[path].get?.parameters?.some((one: { name: string }) => one.name === name),
      );
    for (const name of ['format', 'cursor']) {
      const { message } = (await app.inject(`${NEARBY}&${name}=1`)).json().error;
      expect(takers(name).length).toBeGreaterThan(2);
      for (const path of takers(name)) expect(message).toContain(path);
    }
  });

  it('an unknown parameter is named shortened if it is very long', async () => {
    const { message } = (await app.inject(`${DEPARTURES}&${'x'.repeat(600)}=1`)).json().error;
    expect(message).toContain(`Unknown parameter \`${'x'.repeat(50)}\`. `);
  });
});

describe('a valid query', () => {
  it.each(ACCEPTED)('the query %s is answered with the right upstream request', async (url, expected) => {
    const response = await app.inject(url);
    expect(response.statusCode).toBe(200);
    const operation = OPERATIONS.find((one) => url.startsWith(one.url.split('?', 1)[0] as string));
    if (operation) expectContract(response, operation);
    const sent = new URL(upstream.requests[0] ?? '', 'http://x').searchParams;
    for (const [name, value] of Object.entries(expected)) expect(sent.get(name)).toBe(value);
  });

  it.each(['0.0000001', '-0.00000001', `0.${'0'.repeat(50)}1`])(
    'the number %s is never sent upstream as an exponent',
    async (number) => {
      await app.inject(`/v1/nearby?lat=${number}&lng=${number}`);
      const sent = new URL(upstream.requests[0] ?? '', 'http://x').searchParams;
      expect(sent.get('coord')).toMatch(/^-?[\d.]+:-?[\d.]+:EPSG:4326$/);
    },
  );

  it('a `limit` above the maximum counts as the maximum', async () => {
    const many = { ...departureMonitorResponse, stopEvents: Array.from({ length: 60 }, (_, index) => busEvent(index)) };
    upstream.respondWith((_request, response) => response.end(JSON.stringify(many)));
    const send = async (limit: string) => (await app.inject(`${DEPARTURES}&limit=${limit}`)).json().departures.length;
    expect([await send('1000'), await send('50'), await send(''), await send('1')]).toStrictEqual([50, 50, 10, 1]);
  });

  it('the query of a search is returned as received', async () => {
    upstream.respondWith((_request, response) => response.end(GOOD_ANSWERS.get('stop_finder')));
    expect((await app.inject('/v1/stops/search?q=%20Manly+%26%20')).json().query).toBe(' Manly & ');
  });
});

function busEvent(index: number) {
  return {
    ...departureMonitorResponse.stopEvents[3],
    departureTimePlanned: new Date(Date.parse(NOW) + index * 60_000).toISOString(),
  };
}
