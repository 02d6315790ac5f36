import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '#sandbox/server.ts';
import { AlertList } from '#src/alerts/alert-list.ts';
import { mapCarriedNotice } from '#src/efa/add-info.ts';
import { mapAlerts, mapHints, parseInfos, restrictsWheelchairs } from '#src/efa/alerts.ts';
import { listCarriedNotices } from '#src/efa/carried-notices.ts';
import type { QueryUpstream } from '#src/efa/query-upstream.ts';
import { parseResponse } from '#src/efa/request.ts';
import { alertsResponse } from '#src/operations/alerts/operation.ts';
import { StopRegister } from '#src/stops/register.ts';
import { tableOf } from '#src/stops/table.ts';
import { buildTestApp, type TestApp } from '#test/support/app.ts';
import { mutate, mutations, toText } from '../contract/mutation.ts';
import { openStream } from '../extensions/streams/reading.ts';

const alertsOf = (...infos: unknown[]) => mapAlerts(parseInfos(infos));
const alertOf = (subtitle: string, content: string) => alertsOf({ priority: 'normal', subtitle, content });

describe('alerts as plain text', () => {
  it.each([
    ['<p>Use the <b>northern</b> gate.</p>', 'Use the northern gate.'],
    ['One.<br />Two.<br>Three.', 'One. Two. Three.'],
    ['<ul><li>Stand A</li><li>Stand C</li></ul>', '• Stand A • Stand C'],
    ['<ol><li>Get off.</li><li>Walk.</li></ol>', '1. Get off. 2. Walk.'],
    ['<h2>Sunday</h2>No trains.', 'Sunday No trains.'],
    ['See <a href="https://example.test">the plan</a>.', 'See the plan.'],
    ['<img src="x.png" alt="map">Walk.', 'Walk.'],
    ['<script>alert(1)</script>Walk.<style>b{}</style>', 'Walk.'],
    ['don&rsquo;t &amp; can&#39;t&nbsp;&nbsp;walk', "don’t & can't walk"],
    ['Park & Ride', 'Park & Ride'],
    ['A &amp;amp; B', 'A & B'],
    ['&lt;b&gt;Use&lt;/b&gt; the &lt;script&gt;x()&lt;/script&gt;gate', 'Use the gate'],
    ['&amp;lt;img src=x onerror=alert(1)&amp;gt;Walk.', 'Walk.'],
    ['&#38;#x26;amp;amp;lt;b&#38;#38;gt;Walk.', 'Walk.'],
    ['<\u200bb>Walk\u202e kcab\u{e0041}\u{e007f}.', 'Walk kcab.'],
    ['Walk\u0000&#8238;&#x200b;&zwnj; on\u001b[31m.', 'Walk on[31m.'],
    ['Trains &lt; 5 min late', 'Trains < 5 min late'],
    ['Gap < 10 cm, > 5 cm', 'Gap < 10 cm, > 5 cm'],
    ['First.\n\nSecond.  \n\tThird.\u00a0', 'First. Second. Third.'],
    ['<p>Not closed <b>at all', 'Not closed at all'],
    [
      'Buses:<table><tr><th>Line</th><th>From</th></tr><tr><td>T1</td><td>Platform 1</td><td>9:10</td></tr></table>',
      'Buses: • Line | From • T1 | Platform 1 | 9:10',
    ],
    [
      '<table><caption>Today</caption><thead><tr><th>Line<th>Time</thead><tbody><tr><td>T1<td><p>9:10</p><tr><td><td>9:20<td>A</table>Walk.',
      'Today • Line | Time • T1 | 9:10 • – | 9:20 | A Walk.',
    ],
    ['<table>\n <tr>\n <td> T1 </td>\n <td>\nPlatform 1</td>\n </tr>\n</table>', '• T1 | Platform 1'],
    ['<table><tr><td></td><td><p>Use the gate.</p><p>Walk.</p></td></tr></table>', 'Use the gate. Walk.'],
    ['<table><tr><td><table><tr><td>T1</td><td>9:10</td></tr></table></td></tr></table>Walk.', '• T1 | 9:10 Walk.'],
    ['<td>T1</td><td>Platform 1</td>9:10', 'T1 Platform 19:10'],
    ['&lt;table&gt;&lt;tr&gt;&lt;td&gt;T1&lt;/td&gt;&lt;td&gt;9:10&lt;/td&gt;&lt;/tr&gt;&lt;/table&gt;', '• T1 | 9:10'],
    ['<tr><td>&#xf0000;T1&#xf0001;</td><td>9</td></tr>', '• T1 | 9'],
    ['<dl><dt>T1</dt><dd>9:10</dd></dl><center>Walk.</center>Now.', 'T1 9:10 Walk. Now.'],
  ])('the alert text %j reads %j', (content, text) => {
    expect(alertOf('', content)).toEqual([text]);
  });
});

describe('the subtitle of an alert', () => {
  it.each([
    ['Slower trains', 'Heat on the line.', 'Slower trains: Heat on the line.'],
    ['Slower trains.\u00a0', 'Heat on the line.', 'Slower trains: Heat on the line.'],
    ['Slower trains:', 'Heat on the line.', 'Slower trains: Heat on the line.'],
    ['Northern Line, Airport & South Line', 'Heat.', 'Heat.'],
    ['T1 North Shore & Western Line', 'Heat.', 'Heat.'],
    ['Slower trains', 'Expect SLOWER TRAINS today.', 'Expect SLOWER TRAINS today.'],
    ['Slower trains.', 'Slower trains are expected.', 'Slower trains are expected.'],
    ['Slower trains', '', 'Slower trains'],
    ['Slower trains.', '<p>&nbsp;</p>', 'Slower trains.'],
    ['', 'Heat.', 'Heat.'],
    [
      'T8 Airport & South Line',
      'Monday 9 to Thursday 12 October • Daily from 9pm, buses run.',
      'T8 Airport & South Line: Monday 9 to Thursday 12 October • Daily from 9pm, buses run.',
    ],
    [
      'Buses replace trains',
      '<p>Nightly from 9pm</p><ul><li>Buses replace trains to Revesby.</li></ul>',
      'Buses replace trains: Nightly from 9pm • Buses replace trains to Revesby.',
    ],
    ['Slower trains', '<ul><li>Slower trains to Revesby.</li></ul>', 'Slower trains: • Slower trains to Revesby.'],
    ['Northern Line', '9.40pm to 1am: no trains.', 'Northern Line: 9.40pm to 1am: no trains.'],
    ['Saturday 4 October', 'Saturday 4 October: no trains.', 'Saturday 4 October: no trains.'],
    ['', 'Monday to Friday: no trains.', 'Monday to Friday: no trains.'],
  ])('the subtitle %j with the text %j reads %j', (subtitle, content, text) => {
    expect(alertOf(subtitle, content)).toEqual([text]);
  });
});

describe('a sentence that only introduces a link', () => {
  it.each([
    ['<p>Buses run.</p><a href="https://example.test">More information can be found here.</a>', 'Buses run.'],
    ['Buses run. For more details, click <a href="https://example.test">here</a>. Walk.', 'Buses run. Walk.'],
    ['<ul><li>Buses run.</li><li>Click here for a map.</li></ul>', '• Buses run.'],
    ['Trains end here. More buses stop here. Information is at the desk.', undefined],
    ['Find out more at transportnsw.info.', undefined],
  ])('a sentence of %j that only introduces a link is left out', (content, text = content) => {
    expect(alertOf('', content)).toEqual([text]);
  });

  it('the subtitle remains when a sentence that introduces a link is the whole text', () => {
    expect(alertOf('Slower trains', 'More information can be found here.')).toEqual(['Slower trains']);
  });
});

describe('a list of alerts', () => {
  it('a list of alerts has each text once, in upstream order', () => {
    const one = { id: '1', subtitle: 'Lift 2 is closed', content: '' };
    const other = { id: '2', subtitle: 'Heat', content: '' };
    expect(alertsOf(one, other, { ...one, id: '3' })).toEqual(['Lift 2 is closed', 'Heat']);
  });

  it('permanent notices are left out and notices of every other priority kept', () => {
    const priorities = ['veryLow', 'low', 'normal', 'high', 'veryHigh', undefined];
    const texts = alertsOf(...priorities.map((priority) => ({ priority, subtitle: `${priority}`, content: '' })));
    expect(texts).toEqual(['low', 'normal', 'high', 'veryHigh', 'undefined']);
  });

  it('notices without text and elements that are not notices are left out', () => {
    expect(alertsOf({}, { subtitle: '', content: '<p></p>' }, null, 'none')).toEqual([]);
    expect(alertsOf()).toEqual([]);
  });

  const MORE = 'More notices are not shown here.';

  it('an excessively long list of alerts is truncated, marked and counted', () => {
    const notice = (letter: string) => ({ subtitle: '', content: letter.repeat(19_000) });
    expect(alertsOf(...[...'abc'].map(notice), { subtitle: 'Heat' })).toEqual([
      ...[...'abc'].map((letter) => letter.repeat(19_000)),
      'Heat',
    ]);
    const parts = [...'abc'].map((letter) => letter.repeat(19_000));
    expect(alertsOf(...[...'abcd'].map(notice))).toEqual([...parts, `${'d'.repeat(3000)}…`]);
    expect(alertsOf(...[...'abcde'].map(notice))).toEqual([...parts, `${'d'.repeat(3000)}…`, MORE]);
  });

  it('excessively long texts and hints are truncated', () => {
    const text = 'Walk. '.repeat(4000);
    for (const [cut] of [
      alertsOf({ content: text }),
      alertsOf({ content: `<p>${text}` }),
      mapHints([text], undefined),
    ]) {
      expect(cut).toMatch(/^Walk\. [Walk. ]{19900,20000}…$/);
    }
  });

  it('a list has up to 50 alerts and says so when more are left out', () => {
    const notices = Array.from({ length: 51 }, (_, number) => ({ subtitle: `Notice ${number}!` }));
    const texts = notices.map(({ subtitle }) => subtitle);
    expect(alertsOf(...notices.slice(1))).toEqual(texts.slice(1));
    expect(alertsOf(...notices)).toEqual([...texts.slice(0, 50), MORE]);
    const [first, ...others] = notices;
    expect(alertsOf({ ...first, infoLinks: others.slice(0, 21) })).toEqual([...texts.slice(0, 21), MORE]);
  });

  it('a list fits twelve notices as long as the longest recorded one', () => {
    const notice = (letter: string) => {
      const text = { subtitle: `Trackwork ${letter}`, content: letter.repeat(2378) };
      return { ...text, infoLinks: [{ ...text, subtitle: `Trackwork ${letter}.` }] };
    };
    const lift = { subtitle: 'Lift out of order', content: 'Use the ramp.' };
    const letters = [...'abcdefghijkl'];
    expect(alertsOf(...letters.map(notice), lift)).toEqual([
      ...letters.map((letter) => `Trackwork ${letter}: ${letter.repeat(2378)}`),
      'Lift out of order: Use the ramp.',
    ]);
  });

  it('a permanent notice is kept if it restricts wheelchairs', () => {
    const permanent = (content: string) => ({ subtitle: '', content, priority: 'veryLow' });
    const restricted = 'Some services on this line may not be wheelchair accessible.';
    expect(alertsOf(permanent('Opal cards are accepted.'), permanent('All stops are accessible.'))).toEqual([]);
    expect(alertsOf(permanent(restricted))).toEqual([restricted]);
  });

  it.each([
    'Book your seat with NSW TrainLink',
    'Bookings are essential.',
    'Seats must be booked. Opal is not accepted.',
    'You cannot travel without a reservation.',
    'Please call 131 500 at least a day ahead of your journey.',
    'Notice of accessible access is required for the coach service',
  ])('the permanent notice %j is kept, because riders must act before they travel', (text) => {
    expect(alertsOf({ subtitle: text, priority: 'veryLow' })).toEqual([text]);
    expect(alertsOf({ priority: 'veryLow', infoLinks: [{ content: `<p>${text}</p>` }] })).toEqual([text]);
  });

  it.each([
    'Booking is not required for Opal customers on this route.',
    'No booking needed.',
    'You do not need to book.',
    'The booking office is closed on Sundays.',
    '<a href="https://example.test/book">Timetables</a> are on the web.',
    'Plan your trip before you travel.',
    'Departure or arrival wharf may change at short notice.',
    'Platforms may change at short notice. All are accessible.',
  ])('the permanent notice %j is left out as general information', (content) => {
    expect(alertsOf({ content, priority: 'veryLow' })).toEqual([]);
  });

  it('a notice about booking ahead for access counts as a wheelchair restriction', () => {
    const [info] = parseInfos({ subtitle: 'Notice of accessible access is required for the coach service' });
    expect(info && restrictsWheelchairs(info)).toBe(true);
    const [other] = parseInfos({ subtitle: 'Accessible platforms may change at short notice' });
    expect(other && restrictsWheelchairs(other)).toBe(false);
  });

  it('an alert with excessively nested markup is readable', () => {
    expect(alertOf('Heat', '<b>'.repeat(2000))).toEqual(['Heat']);
    expect(alertOf('', `Walk.${'<ul><li>'.repeat(700)}`)).toEqual([expect.stringMatching(/^Walk\./)]);
  });

  it('an alert falls back to the spoken text and the link text', () => {
    const properties = { speechText: 'Heat on the line.' };
    expect(alertsOf({ urlText: 'Slower trains', properties })).toEqual(['Slower trains: Heat on the line.']);
    expect(alertsOf({ subtitle: '', urlText: 'Slower trains', content: '', properties })).toEqual([
      'Slower trains: Heat on the line.',
    ]);
  });
});

describe('a notice whose text is in its links', () => {
  const link = {
    subtitle: 'Buses replace trains',
    content: '<p>Between Sydenham and Central.</p>',
    speechText: 'Buses.',
  };
  const text = 'Buses replace trains: Between Sydenham and Central.';

  it('a notice with its text in a link reads like one with the text at the top', () => {
    expect(alertsOf({ infoLinks: [link] })).toEqual([text]);
    expect(alertsOf({ infoLinks: link })).toEqual([text]);
  });

  it('a link without content gives its spoken text', () => {
    expect(alertsOf({ infoLinks: [{ ...link, content: '' }] })).toEqual(['Buses replace trains: Buses.']);
  });

  it('each of several links gives its own text', () => {
    const other = { urlText: 'Lift 2 is closed' };
    expect(alertsOf({ infoLinks: [link, other] })).toEqual([text, 'Lift 2 is closed']);
  });

  it('a text that is both at the top and in a link appears once', () => {
    expect(alertsOf({ ...link, infoLinks: [link] })).toEqual([text]);
    expect(alertsOf({ ...link, infoLinks: [{ ...link, content: 'Between Sydenham and Central.' }] })).toEqual([text]);
    expect(alertsOf({ subtitle: 'Running late', infoLinks: [{ subtitle: 'RUNNING LATE' }] })).toEqual(['Running late']);
  });

  it('a text contained in another text of the notice is dropped', () => {
    expect(alertsOf({ ...link, infoLinks: [{ urlText: 'Buses replace trains' }] })).toEqual([text]);
    expect(alertsOf({ content: 'Between Sydenham and Central.', infoLinks: [link] })).toEqual([text]);
  });

  it('text of a link beyond the top is added', () => {
    expect(alertsOf({ ...link, infoLinks: [{ urlText: 'Lift 2 is closed' }] })).toEqual([text, 'Lift 2 is closed']);
  });

  it('a permanent notice with its text in a link is left out', () => {
    expect(alertsOf({ priority: 'veryLow', infoLinks: [link] })).toEqual([]);
  });
});

describe('GET /v1/alerts', () => {
  const NOW = '2026-11-20T02:00:00Z';
  const FROM = '2026-11-18T00:00:00Z';
  const NO_END = '2500-12-31T13:59:00Z';
  const T1 = { id: 'nsw:02T1', disassembledName: 'T1', number: 'T1 North Shore', product: { class: 1 } };
  const BUS = { id: 'nsw:333', disassembledName: '333', product: { class: 5 } };
  const run = (realtimeTripId: string, start: string, end: string) => ({
    realtimeTripId,
    departureTimePlannedJourneyOrigin: start,
    stopSequence: [{ departureTimePlanned: start }, { arrivalTimePlanned: end }],
  });
  const notice = (subtitle: string, more: object = {}, validity: unknown = [{ from: FROM, to: NO_END }]) => ({
    type: 'lineInfo',
    priority: 'normal',
    subtitle,
    url: 'https://example.test/1',
    timestamps: { creation: FROM, validity },
    affected: { lines: [T1] },
    ...more,
  });
  const SOURCE = { dataDate: '2026-08-21', source: 'a test' };
  const stops = new StopRegister(() => {
    const stop = {
      suburb: '',
      lat: -33.87,
      lng: 151.2,
      modes: ['train' as const],
      parent_id: null,
      is_platform: false,
    };
    const platform = { ...stop, parent_id: '200070', is_platform: true };
    return tableOf(
      [
        { ...stop, stop_id: '200070', name: 'Town Hall' },
        { ...platform, stop_id: '2000391', name: 'Platform 1' },
        { ...platform, stop_id: '2000392', name: 'Platform 2' },
      ],
      SOURCE,
    );
  });

  let current: unknown[] = [];
  let calls = 0;
  const upstream = (async (request: Parameters<QueryUpstream>[0]) => {
    calls++;
    const freshUntil = Date.parse(NOW) + 120_000;
    const freshness = {
      retrievedAt: Date.parse(NOW),
      freshUntil,
      staleUntil: freshUntil,
      source: 'upstream',
      shortage: null,
    };
    return { payload: parseResponse(request, { infos: { current } }), retrievedAt: Date.parse(NOW), freshness };
  }) as unknown as QueryUpstream;

  /** Requests the alerts while upstream lists these notices, each time from a service with an empty cache. */
  async function answer(notices: unknown[], ...queries: string[]) {
    current = notices;
    const app = await buildTestApp({ upstream, now: NOW, stops });
    try {
      const responses = [];
      for (const query of queries) responses.push((await app.inject(`/v1/alerts${query}`)).json());
      return responses;
    } finally {
      await app.close();
    }
  }
  const textsOf = async (notices: unknown[], query = '') => {
    const [{ alerts }] = await answer(notices, query);
    return alerts.map(({ text }: { text: string }) => text);
  };

  it('each alert in GET /v1/alerts has its subject, validity and link', async () => {
    const links = [{ subtitle: 'Late', content: 'Walk.', url: 'https://example.test/2' }];
    const affected = {
      stops: [
        { id: '2000391', type: 'platform', parent: { id: '200070', type: 'stop', name: 'Town Hall' } },
        { name: '?' },
      ],
      lines: [
        { ...T1, trips: [run(' 1-A.1 ', '2026-11-20T01:30:00Z', '2026-11-20T02:30:00Z')] },
        T1,
        BUS,
        { product: {} },
      ],
    };
    const [{ alerts, total, retrieved_at }] = await answer(
      [notice('', { type: 'stopInfo', priority: 'high', url: 'javascript:alert(1)', infoLinks: links, affected })],
      '',
    );
    expect([total, retrieved_at]).toEqual([1, NOW]);
    expect(alerts).toEqual([
      {
        id: expect.stringMatching(/^[\w-]{10}$/),
        kind: 'stop',
        category: null,
        cause: null,
        severity: 'high',
        title: null,
        text: 'Late: Walk.',
        url: 'https://example.test/2',
        periods: [{ starts_at: FROM, ends_at: null }],
        stops: [{ stop_id: '2000391', name: 'Platform 1' }],
        routes: [
          { route: 'T1', mode: 'train' },
          { route: '333', mode: 'bus' },
        ],
        runs: [{ trip_id: '1-A.1', route: 'T1', starts_at: '2026-11-20T01:30:00Z' }],
        updated_at: FROM,
      },
    ]);
  });

  it('GET /v1/alerts leaves out invalid alerts and alerts of ended runs', async () => {
    const onRun = (subtitle: string, ...trips: object[]) =>
      notice(subtitle, { type: 'tripMessage', affected: { lines: [{ ...T1, trips }] } });
    const old = run('old', '2024-09-12T07:04:00Z', '2024-09-12T08:04:00Z');
    const present = run('present', '2026-11-20T00:00:00Z', '2026-11-20T01:00:00Z');
    const notices = [
      onRun('Of 2024', old),
      onRun('Of 2024 without calls', { ...old, stopSequence: undefined }),
      onRun('Of an hour ago', old, present),
      notice('Runs only', { affected: { lines: [{ ...T1, trips: [old] }] } }),
      notice('Long ago', { type: 'tripMessage', timestamps: { creation: '2024-09-12T00:00:00Z' } }),
      notice('Tomorrow', {}, [{ from: '2026-11-21T02:00:00Z', to: NO_END }]),
      notice('Yesterday and now', {}, [
        { from: FROM, to: '2026-11-19T00:00:00Z' },
        { from: '2026-11-20T00:00:00Z', to: '2026-11-20T05:00:00Z' },
      ]),
      notice('Yesterday', {}, { from: FROM, to: '2026-11-19T00:00:00Z' }),
      notice('Undated', { timestamps: null }),
      notice('Permanent', { priority: 'veryLow' }),
    ];
    expect((await textsOf(notices)).sort()).toEqual(['Of an hour ago', 'Undated', 'Yesterday and now']);
    expect((await textsOf(notices, '?at=2026-11-21T14:00')).sort()).toEqual(['Tomorrow', 'Undated']);
    const [{ alerts }] = await answer([onRun('Late', old, present)], '');
    expect(alerts[0].runs.map(({ trip_id }: { trip_id: string }) => trip_id)).toEqual(['present']);
  });

  it('GET /v1/alerts sorts by severity, then latest first, with each text once', async () => {
    const at = (creation: string) => ({ timestamps: { creation, validity: [{ from: FROM }] } });
    const bus = { affected: { lines: [BUS] } };
    const notices = [
      notice('Low', { priority: 'low' }),
      notice('Old', at('2026-11-18T00:00:00Z')),
      notice('New', at('2026-11-19T00:00:00Z')),
      notice('Low', { ...bus, priority: 'low' }),
      notice('Grave', { priority: 'veryHigh' }),
      notice('Strange', { ...at('2026-11-17T00:00:00Z'), priority: 'colossal' }),
    ];
    const [all, few, grave] = await answer(notices, '', '?limit=2', '?severity=high');
    expect(all.alerts.map(({ text }: { text: string }) => text)).toEqual(['Grave', 'New', 'Old', 'Strange', 'Low']);
    expect(all.alerts.at(-1).routes.map(({ route }: { route: string }) => route)).toEqual(['T1', '333']);
    expect([few.alerts.length, few.total, grave.total]).toEqual([2, 5, 1]);
  });

  it('GET /v1/alerts filters by stop, route and mode with one upstream call', async () => {
    const at = (id: string) => ({ affected: { stops: [{ id }], lines: [T1] } });
    const notices = [
      notice('Line', {}),
      notice('Bus', { affected: { lines: [BUS] } }),
      notice('Station', at('200070')),
      notice('Platform 1', at('2000391')),
      notice('Elsewhere', at('200060')),
      notice('Everywhere', { type: 'bannerInfo', affected: {} }),
    ];
    calls = 0;
    const queries = [
      '?stop=200070',
      '?stop=2000392',
      '?routes=t1&modes=train',
      '?modes=bus',
      '?routes=333&modes=train',
    ];
    const found = (await answer(notices, ...queries)).map(({ alerts }) =>
      alerts.map(({ text }: { text: string }) => text).sort(),
    );
    expect(found).toEqual([
      ['Everywhere', 'Platform 1', 'Station'],
      ['Everywhere', 'Station'],
      ['Elsewhere', 'Line', 'Platform 1', 'Station'],
      ['Bus', 'Everywhere'],
      [],
    ]);
    expect(calls).toBe(1);
  });

  it('GET /v1/alerts finds lines that upstream lists without short names', async () => {
    const line = (id: string, number: string, productClass: number) =>
      notice(number, { affected: { lines: [{ id, number, product: { class: productClass } }] } });
    const notices = [
      line('nsw:020T1:W:H:', 'T1 North Shore & Western Line', 1),
      line('nsw:02BMT: :H:', 'Blue Mountains Line', 1),
      line('nsw:02SCO: :R:', 'South Coast Line', 1),
      line('nsw:030M1: :H:', 'M1 Metro North West & Bankstown Line', 2),
      line('nsw:780L1: :H:', 'L1 Dulwich Hill Line', 4),
      line('nsw:09F10: :H:', 'F10 Blackwattle Bay', 9),
    ];
    const routes = ['T1', 'BMT', 'SCO', 'M1', 'L1', 'F10'];
    const found = await answer(notices, ...routes.map((route) => `?routes=${route}`));
    expect(
      found.map(({ alerts }) => alerts.map(({ routes: named }: { routes: { route: string }[] }) => named[0]?.route)),
    ).toEqual(routes.map((route) => [route]));
  });

  it('GET /v1/alerts finds an alert of a platform by the platform and by the station', async () => {
    const named = (stopIDglobalID: string, ids: string[] = []) =>
      notice(stopIDglobalID, {
        type: 'stopInfo',
        properties: { stopIDglobalID },
        affected: { lines: [T1], stops: ids.map((id) => ({ id, type: 'stop', name: 'Station, Platform 1' })) },
      });
    const notices = [
      named('200070:2000391', ['200070']),
      named('10101101:2000391', ['10101101']),
      named('200060:2000321'),
      named('200060:2000322#206910', ['206910']),
    ];
    const queries = ['2000391', '200070', '2000321', '2000322', '200060', '206910', '2000399'];
    const found = await answer(notices, ...queries.map((stop) => `?stop=${stop}`));
    const [station, internal, one, two] = notices.map(({ subtitle }) => subtitle);
    expect(found.map(({ alerts }) => new Set(alerts.map(({ text }: { text: string }) => text)))).toEqual([
      new Set([station, internal]),
      new Set([station, internal]),
      new Set([one]),
      new Set([two]),
      new Set([one, two]),
      new Set([two]),
      new Set(),
    ]);
  });

  it('GET /v1/alerts recognises lift alerts by their announcement and gives no internal link of upstream', async () => {
    const properties = { announcementType: 'liftsEscalators' };
    const url = 'http://localhost:8085/ics/XSLT_CM_SHOWADDINFO_REQUEST?infoID=1';
    const [{ alerts }] = await answer(
      [
        notice('Lift', { type: 'stopInfo', properties, url }),
        notice('Loopback', { url: 'http://127.0.0.1/', priority: 'low' }),
        notice('Link', { url, infoLinks: [{ url: 'https://example.test/2' }], priority: 'veryHigh' }),
      ],
      '',
    );
    expect(alerts.map(({ text, kind, url: page }: Record<string, string>) => [text, kind, page])).toEqual([
      ['Link', 'line', 'https://example.test/2'],
      ['Lift', 'facility', null],
      ['Loopback', 'line', null],
    ]);
  });

  it('GET /v1/alerts has the category and cause that upstream gives, and filters by category', async () => {
    const notices = [
      notice('Lift', {
        type: 'stopInfo',
        properties: { announcementType: 'liftsEscalators', EquipmentReason: 'liftFailure' },
      }),
      notice('Track', { properties: { announcementType: 'trackwork', AlertCause: 'unknown' } }),
      notice('Road', { properties: { announcementType: 'serviceChange', MiscellaneousReason: 'roadworks' } }),
      notice('Storm', { properties: { announcementType: 'other', EnvironmentReason: 'heavyRain' } }),
      notice('Escalator', { type: 'infrastructure', properties: { EquipmentReason: 7, PersonnelReason: '<b>' } }),
      notice('Long', { properties: { announcementType: {}, AlertCause: 'x'.repeat(61) } }),
      notice('Bare', { properties: null }),
    ];
    const [all, lifts] = await answer(notices, '', '?category=lifts_escalators');
    const fields = ({ text, kind, category, cause }: Record<string, string>) => [text, kind, category, cause];
    expect(new Set(all.alerts.map(fields))).toEqual(
      new Set([
        ['Lift', 'facility', 'lifts_escalators', 'lift_failure'],
        ['Track', 'line', 'trackwork', null],
        ['Road', 'line', 'service_change', 'roadworks'],
        ['Storm', 'line', null, 'heavy_rain'],
        ['Escalator', 'facility', 'lifts_escalators', null],
        ['Long', 'line', null, null],
        ['Bare', 'line', null, null],
      ]),
    );
    expect(lifts.alerts.map(({ text }: { text: string }) => text).sort()).toEqual(['Escalator', 'Lift']);
  });

  it('GET /v1/alerts skips a malformed notice and fails if all are malformed', async () => {
    expect(await textsOf([null, 7, 'x', { timestamps: 3, affected: [7] }, notice('Good')])).toEqual(['Good']);
    expect(await textsOf([])).toEqual([]);
    expect((await answer([null, 7], ''))[0].error.code).toBe('UPSTREAM_ERROR');
  });

  it('GET /v1/alerts matches its schema whatever is wrong with the upstream list', async () => {
    const affected = {
      stops: [{ id: '2000391', type: 'platform', name: 'Platform 1', parent: { id: '200070', type: 'stop' } }],
      lines: [{ ...T1, trips: [run('1', '2026-11-20T01:30:00Z', '2026-11-20T02:30:00Z')] }, BUS],
    };
    const good = {
      infos: { current: [notice('Lift', { type: 'infrastructure', affected }), notice('Late', { infoLinks: [{}] })] },
    };
    const app = await buildTestApp({ upstream: spoilt, now: NOW, stops });
    let given: unknown;
    async function spoilt(...[request]: Parameters<QueryUpstream>): Promise<never> {
      return { payload: parseResponse(request, given), retrievedAt: Date.parse(NOW) } as never;
    }
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(mutations, async (changes) => {
        given = JSON.parse(toText(mutate(good, changes)));
        const response = await app.inject('/v1/alerts?stop=200070&routes=T1,333');
        seen.add(response.statusCode);
        expect([200, 502]).toContain(response.statusCode);
        if (response.statusCode === 200) alertsResponse.parse(response.json());
      }),
      { seed: 20260415, numRuns: 300 },
    );
    expect(seen).toContain(200);
    await app.close();
  });

  describe('alerts known only from boards and journeys', () => {
    const info = (subtitle: string, type: string, more: object = {}) => ({
      id: subtitle,
      priority: 'normal',
      type,
      subtitle,
      ...more,
    });
    const LATE = info('The 13:05 is late', 'tripMessage', { url: 'https://example.test/late' });
    const CLOSED = info('A gate is closed', 'stopInfo', { properties: { stopIDglobalID: '200070:2000391' } });
    const BUSES = info('Buses replace trains', 'lineInfo', { timestamps: { validity: [{ from: FROM, to: NO_END }] } });
    const PERMANENT = info('Mind the gap', 'lineInfo', { priority: 'veryLow' });
    const board = (infos: object[], minute: number) => ({
      locations: [
        { id: '200070', type: 'stop', isGlobalId: true, name: 'Town Hall Station', disassembledName: 'Town Hall' },
      ],
      stopEvents: [
        {
          location: { id: '2000391', type: 'platform', parent: { id: '200070', type: 'stop', name: 'Town Hall' } },
          departureTimePlanned: `2026-11-20T02:0${minute}:00Z`,
          transportation: { ...T1, number: 'T1 North Shore', destination: { name: 'Berowra' } },
          properties: { RealtimeTripId: 'run-1' },
          infos,
        },
      ],
    });
    let onBoard: object[] = [];
    let listed: unknown[] = [];
    let now = new Date(NOW);
    const queryUpstream = (async (request: Parameters<QueryUpstream>[0]) => ({
      payload: parseResponse(request, request.kind === 'notices' ? { infos: { current: listed } } : board(onBoard, 5)),
      retrievedAt: now.getTime(),
    })) as unknown as QueryUpstream;
    const alertsOf = () => new AlertList({ now: () => now.getTime(), stops });
    const start = () => buildTestApp({ upstream: queryUpstream, now: () => now, stops, alerts: alertsOf() });
    const BOARD = '/v1/departures?stop=200070&modes=train&include=ids';
    const list = async (app: TestApp, query = '') => (await app.inject(`/v1/alerts${query}`)).json().alerts;

    it('excessively nested alerts of a board are skipped without affecting others', async () => {
      let deep: unknown = 'end';
      for (let depth = 0; depth < 200_000; depth++) deep = [deep];
      [onBoard, listed] = [[{ ...LATE, id: 'deep', subtitle: 'Deep', content: 'Deep', deep }, CLOSED], []];
      const app = await start();
      expect((await app.inject(BOARD)).statusCode).toBe(200);
      const texts = (await list(app)).map(({ text }: { text: string }) => text);
      expect(texts).toContain('A gate is closed');
      expect(texts).not.toContain('Deep');
    });

    it('alerts of boards and journeys are in GET /v1/alerts with the same IDs, about the run, stop or line', async () => {
      onBoard = [LATE, CLOSED, BUSES, PERMANENT];
      listed = [notice('Buses replace trains'), notice('Listed')];
      const one = await start();
      expect((await list(one)).map(({ text }: { text: string }) => text).sort()).toEqual([
        'Buses replace trains',
        'Listed',
      ]);
      const [{ alerts: texts, alert_ids: ids }] = (await one.inject(BOARD)).json().departures;
      expect(texts).toEqual(['The 13:05 is late', 'A gate is closed', 'Buses replace trains']);
      now = new Date(now.getTime() + 121_000);
      const alerts = await list(one);
      const byId = new Map(alerts.map((alert: { id: string }) => [alert.id, alert]));
      expect(alerts.map(({ text }: { text: string }) => text).sort()).toEqual([...texts, 'Listed'].sort());
      expect(byId.get(ids[0])).toEqual({
        id: ids[0],
        kind: 'run',
        category: null,
        cause: null,
        severity: 'normal',
        title: 'The 13:05 is late',
        text: 'The 13:05 is late',
        url: 'https://example.test/late',
        periods: [],
        stops: [],
        routes: [{ route: 'T1', mode: 'train' }],
        runs: [{ trip_id: 'run-1', route: 'T1', starts_at: null }],
        updated_at: null,
      });
      expect(byId.get(ids[1])).toMatchObject({ kind: 'stop', stops: [{ stop_id: '200070' }], routes: [] });
      expect((await list(one, '?routes=T1')).map(({ id }: { id: string }) => id)).toContain(ids[0]);
      expect((await list(one, '?stop=2000392')).map(({ id }: { id: string }) => id)).toContain(ids[1]);
      // The run has ended, and its board was not requested.
      now = new Date('2026-11-20T05:10:00Z');
      expect((await list(one)).map(({ text }: { text: string }) => text).sort()).toEqual([
        'Buses replace trains',
        'Listed',
      ]);
      await one.close();
    });

    it('an alert of a ride is about its run, which ends no earlier than the ride', () => {
      const leg = {
        origin: { departureTimePlanned: '2026-11-20T02:05:00Z' },
        destination: { arrivalTimePlanned: '2026-11-20T02:35:00Z' },
        transportation: { ...T1, properties: { RealtimeTripId: 'run-2' } },
        infos: [LATE, CLOSED],
      };
      const carried = [...listCarriedNotices({ journeys: [{ legs: [leg, { infos: null }, 7] }, null] })];
      const [late, closed] = carried.map(({ toNotice }) => mapCarriedNotice(toNotice())[0]);
      const endsAt = Date.parse('2026-11-20T02:35:00Z');
      expect(late).toMatchObject({ kind: 'run', runs: [{ tripId: 'run-2', route: 'T1', startsAt: null, endsAt }] });
      expect(closed).toMatchObject({ kind: 'stop', stops: [{ ids: ['200070'] }], routes: [] });
    });

    it('unreadable alerts of boards and journeys are left out, and those with odd fields get the defaults', async () => {
      listed = [notice('Listed')];
      onBoard = [null, 7, { id: [], type: 'constructor', subtitle: 'Odd', priority: 'constructor' }] as object[];
      const app = await start();
      await app.inject(BOARD);
      const alerts = await list(app);
      expect(alerts.map(({ text, kind, severity }: Record<string, string>) => [text, kind, severity]).sort()).toEqual([
        ['Listed', 'line', 'normal'],
        ['Odd', 'general', 'normal'],
      ]);
      await app.close();
    });
  });

  describe('alerts of the sandbox', () => {
    let sandbox: Sandbox;
    let app: TestApp;
    beforeAll(async () => {
      sandbox = await startSandbox({ apiKey: 'k', now: () => new Date(NOW) });
      app = await buildTestApp({ upstream: sandbox.url, upstreamKey: 'k', now: NOW });
      await app.listen({ port: 0, host: '127.0.0.1' });
    });
    afterAll(async () => {
      await app.close();
      await sandbox.close();
    });

    it('GET /v1/alerts has every alert of sandbox boards and journeys with the same ID, and none of 2024', async () => {
      const { alerts } = (await app.inject('/v1/alerts?limit=300')).json();
      const known = new Map(alerts.map(({ id, text }: { id: string; text: string }) => [id, text]));
      const urls = ['200060', '200070', '200020', '206010'].map(
        (stop) => `/v1/departures?stop=${stop}&modes=all&limit=50&include=ids`,
      );
      const bodies = await Promise.all(
        [...urls, '/v1/trips?from=200060&to=206010&include=ids'].map((url) => app.inject(url)),
      );
      const seen = bodies.flatMap((response) => {
        const { departures = [], journeys = [] } = response.json();
        const legs = journeys.flatMap((journey: { legs: object[] }) => journey.legs);
        return [...departures, ...legs].flatMap(({ alerts: texts = [], alert_ids: ids = [] }) =>
          texts.map((text: string, index: number) => [ids[index], text]),
        );
      });
      expect(seen.length).toBeGreaterThan(20);
      expect(seen.filter(([id, text]) => known.get(id) !== text)).toEqual([]);
      expect(alerts.map(({ kind }: { kind: string }) => kind)).not.toContain('run');
      const later = (await app.inject('/v1/alerts?at=2026-11-23T12:00')).json();
      expect(later.alerts[0]).toMatchObject({
        severity: 'high',
        kind: 'line',
        title: 'Trackwork: buses replace trains',
      });
    });

    it('GET /v1/alerts answers 304 to a caller with the current list, and is available as a stream', async () => {
      const { headers } = await app.inject('/v1/alerts?routes=T1');
      const again = { 'if-none-match': String(headers.etag) };
      expect((await app.inject({ url: '/v1/alerts?routes=T1', headers: again })).statusCode).toBe(304);
      const stream = await openStream(app, '/v1/alerts/stream?routes=T1');
      expect(await stream.next('alerts')).toEqual((await app.inject('/v1/alerts?routes=T1')).json());
      stream.close();
    });
  });
});
