import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { VISITOR_HOUR } from '#src/access/grant.ts';
import { PLANS } from '#src/access/plan.ts';
import { ERROR_TABLE } from '#src/errors/api-error.ts';
import { ERROR_DOCS } from '#src/errors/docs.ts';
import { urlOf } from '#src/http/paths.ts';
import { FRESHNESS_WINDOWS } from '#src/transit/freshness.ts';
import { describedOperations } from '#test/support/operations.ts';
import { operationUrl, sampleOf } from '#web/assets/sample.js';
import { plansContactText } from '#web/docs/docs.ts';
import { type Field, listFields } from '#web/docs/fields.ts';
import { GUIDE_NAMES } from '#web/docs/guides.ts';
import type { SearchEntry } from '#web/docs/machine-readable.ts';
import { renderMarkdown } from '#web/docs/markdown.ts';
import { type Front, startFront } from '../support/front.ts';
import { listPageSamples } from '../support/samples.ts';
import { SEARCHES } from './searches.ts';

let front: Front;
beforeAll(async () => {
  front = await startFront({ now: '2026-11-20T02:00:20Z' });
});
afterAll(() => front[Symbol.asyncDispose]());

let searchIndex: object | null = null;

const OPERATIONS = describedOperations().map((operation) => [operation.path, operation] as const);
const open = async (url: string) => (await front.app.inject({ url, headers: { accept: 'text/html' } })).body;
const guide = (name: string) => readFileSync(`docs/guide/${name}.md`, 'utf8');
/** The rows of the table whose first column has this heading. */
const tableOf = (name: string, firstColumn: string) =>
  (new RegExp(`^\\| ${firstColumn} .*\\n.*\\n((?:\\|.*\\n)+)`, 'm').exec(guide(name))?.[1] ?? '')
    .trim()
    .split('\n')
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

describe('the pages of the operations', () => {
  it.each(OPERATIONS)(
    'the page of %s lists every parameter, field and error of its own, and has its example',
    async (path, operation) => {
      const page = await open(operationUrl(path));
      for (const name of Object.keys(operation.query.shape))
        expect(page).toContain(`<dt><a href="#parameter-${name}"><code>${name}</code>`);
      for (const code of operation.errors) expect(page).toContain(`/docs/errors/${code}`);
      for (const name of fieldNamesIn(operation.example.body)) expect(page).toContain(`>${name}</code>`);
      expect(page).toContain(urlOf(path, operation.example.query).replaceAll('&', '&#38;'));
    },
  );

  it.each(OPERATIONS)(
    'the page of %s gives each field’s meaning, its unit, and when it is null',
    (_path, operation) => {
      const fields = listFields(operation.body as z.ZodType, operation.example.body).filter(
        (one): one is Field => 'path' in one,
      );
      const silent = fields.filter(({ type, description }) => {
        const tellsUnit = /\b(degrees|metres|minutes|seconds|index|number)\b/i.test(description);
        return (
          description === '' ||
          (type.includes('null') && !/null/i.test(description)) ||
          (/^(integer|number)/.test(type) && !tellsUnit)
        );
      });
      expect(silent.map((field) => field.path)).toEqual([]);
    },
  );
});

it.each(OPERATIONS)('the responses of %s have only fields that its page lists', async (path, operation) => {
  const { body, query } = operation.example;
  const listed = listFields(operation.body as z.ZodType, body).flatMap((one) => ('path' in one ? one.path : []));
  const headers = { authorization: `Bearer ${front.testKey}` };
  const response = await front.app.inject({ url: urlOf(path, query), headers });
  expect(response.statusCode).toBe(200);
  expect(pathsIn(response.json()).filter((one) => !listed.includes(one))).toEqual([]);
});

/** The fields of a response as the pages list them, such as "departures[].route". */
function pathsIn(value: unknown, prefix = ''): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((one) => pathsIn(one, `${prefix}[]`)))];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = prefix ? `${prefix}.${name}` : name;
    return [path, ...pathsIn(inner, path)];
  });
}

/** The field names of a response, at every depth. */
function fieldNamesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(fieldNamesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...fieldNamesIn(inner)]);
}

describe('the guides', () => {
  it.each(GUIDE_NAMES)(
    'every heading of the guide %s can be linked to, and every link to a heading leads to one',
    async (name) => {
      const page = await open(`/docs/${name}`);
      const anchors = [...page.matchAll(/<h[23][^>]*>/g)].map(([tag]) => / id="([^"]+)"/.exec(tag)?.[1]);
      expect(anchors).not.toContain(undefined);
      expect(new Set(anchors).size).toBe(anchors.length);
      for (const [, to = '', anchor = ''] of page.matchAll(/href="(\/docs[^"#]*)#([^"]+)"/g))
        expect(await open(to), `${to}#${anchor}`).toContain(`id="${anchor}"`);
      expect(page).not.toMatch(/localhost:3000|YOUR_ADDRESS|<!--|\.md"/);
    },
  );

  it('the quickstart has the samples of the operation’s page', () => {
    const { curl, javascript, python } = sampleOf(
      'http://localhost:3000',
      '/v1/departures?stop=200070&modes=all&limit=5',
    );
    const samples = { sh: curl, js: javascript, python };
    for (const [language, code] of Object.entries(samples))
      expect(guide('quickstart')).toContain(`\`\`\`${language}\n${code}\n\`\`\``);
  });

  it('the guides give the default requests per visitor and hour, and what a display at home needs', async () => {
    expect(guide('browsers')).toContain(`${VISITOR_HOUR} requests an hour unless you choose otherwise`);
    // One request at the start and one a minute.
    const ofADay = (1 + 24 * 60).toLocaleString('en');
    expect(guide('display')).toMatch(new RegExp(`## What it costs\\n[^#]*${ofADay} requests`));
    expect(await open('/')).toContain(`${ofADay} requests; see <a href="/docs/display">`);
  });

  it.each([
    ['limits', 'javascript/poll-boards.mjs'],
    ['streams', 'javascript/follow-board.mjs'],
    ['follow', 'javascript/follow-journey.mjs'],
    ['mobile', 'mobile/Board.swift'],
    ['mobile', 'mobile/Board.kt'],
    ['mobile', 'mobile/board-stream.js'],
    ['mobile', 'mobile/board.dart'],
    ['browsers', 'web-page/board.html'],
    ['maps', 'maps/leaflet.html'],
    ['maps', 'maps/maplibre.html'],
  ])('%s shows the whole of %s', async (name, example) => {
    const file = readFileSync(`examples/${example}`, 'utf8').trim();
    const shown = listPageSamples(name, await open(`/docs/${name}`)).map(({ code }) => code.trim());
    // The browsers page contains the sandbox's publishable key.
    const key = name === 'browsers' ? front.publishableKey : 'tis_pub_…';
    expect(shown).toContain(file.replaceAll('http://localhost:3000', front.url).replace('tis_pub_…', key));
  });

  it('code blocks in different languages become tabs, with the first one open', () => {
    const { body } = renderMarkdown('# A\n\n```sh\ncurl x\n```\n\n```js\nfetch(1)\n```\n\ntext\n\n```js\n2\n```\n', '');
    expect(body().markup.match(/type="radio"/g)).toHaveLength(2);
    expect(body().markup.match(/checked/g)).toHaveLength(1);
    expect(body().markup.match(/<fieldset/g)).toHaveLength(1);
  });

  it('the search finds words of the guides without markup', () => {
    const text = 'A *b* [c](d.md), `e_f`.\n\n- one\n- two `x*y`\n\n| k | v |\n|---|---|\n| `l` | m |\n';
    const { summary, sections } = renderMarkdown(`# T *U*\n\n${text}`, '');
    expect(summary).toBe('A b c, e_f.');
    expect(sections()).toEqual([{ heading: 'T U', anchor: '', text: 'A b c, e_f. one · two x*y k · v · l · m ' }]);
  });

  it('code is shown as it is written, markup included', () => {
    const { body } = renderMarkdown('# A\n\n```js\nif (a < b && c) "<b>";\n```\n', '');
    const text = body().markup.replaceAll(/<[^>]*>/g, '');
    expect(text).toContain('if (a &#60; b &#38;&#38; c) &#34;&#60;b&#62;&#34;;');
  });
});

describe('the numbers in the guides', () => {
  it('the plans in the guides are the actual ones', () => {
    const plans = Object.values(PLANS).map(({ title, dailyLimit, rate, streams }) => [
      title,
      dailyLimit?.toLocaleString('en') ?? 'unlimited',
      rate ? `${rate.perSecond}, with bursts of ${rate.burst}` : 'unlimited',
      streams.toLocaleString('en'),
    ]);
    expect(tableOf('limits', 'plan')).toEqual(plans);
    expect(guide('quickstart')).toContain(`${PLANS.free.dailyLimit.toLocaleString('en')} requests a day`);
  });

  it('the guides give the actual cost of a board per day', () => {
    const seconds = (text: string) => Number.parseInt(text, 10) * (text.includes('minute') ? 60 : 1);
    for (const [every = '', aDay, fitsFree, inDeveloper] of tableOf('limits', 'one board every')) {
      const requests = 86_400 / seconds(every);
      const inFree = Math.floor(PLANS.free.dailyLimit / requests);
      expect([every, aDay, fitsFree, inDeveloper]).toEqual([
        every,
        requests.toLocaleString('en'),
        ['no', 'one board'][inFree] ?? `${inFree} boards`,
        String(Math.floor(PLANS.developer.dailyLimit / requests)),
      ]);
    }
    const polls = Math.floor(PLANS.free.dailyLimit / 6);
    const pace = 86_400 / polls;
    expect(guide('limits')).toContain(
      `${Math.floor(pace / 60)} minutes and ${Math.round((pace % 60) / 10) * 10} seconds`,
    );
  });

  it('the guides give the actual cache times of responses', () => {
    const inWords = (ms: number) => {
      const [unit, size] =
        ms >= 7 * 86_400_000
          ? ['day', 86_400_000]
          : ms >= 3_600_000
            ? ['hour', 3_600_000]
            : ms >= 60_000
              ? ['minute', 60_000]
              : ['second', 1000];
      const count = ms / Number(size);
      return `${count} ${unit}${count === 1 ? '' : 's'}`;
    };
    const { departuresNow, departuresAtTime, trips, search, nearby, notices } = FRESHNESS_WINDOWS;
    const windows = [departuresNow, departuresAtTime, trips, nearby, search, notices];
    // Leaves out the first row: for boards from the timetable, the feeds decide.
    const [, ...rows] = tableOf('live-data', 'operation');
    expect(rows.map(([, fresh = '', stale]) => [fresh.split(';')[0], stale])).toEqual(
      windows.map(({ freshMs, staleMs }) => [inWords(freshMs), inWords(staleMs)]),
    );
  });

  it('the guides agree with each error’s page on whether to retry', () => {
    const rows = tableOf('limits', 'code');
    for (const [code, { status }] of Object.entries(ERROR_TABLE)) {
      const row =
        rows.find(([codes = '']) => codes.includes(code)) ?? rows.find(([codes]) => codes?.includes(`${status}`));
      const isWorthIt = /^(Yes|Once)/.test(ERROR_DOCS[code as keyof typeof ERROR_DOCS].retry);
      expect([code, row?.[2]?.slice(0, 2)]).toEqual([code, isWorthIt ? 'ye' : 'no']);
    }
  });
});

describe('the search of the docs', () => {
  it('the search knows every page of the documentation, and every address that it returns exists', async () => {
    const entries: SearchEntry[] = JSON.parse(await open('/docs/search.json'));
    const found = new Set(entries.map(({ url }) => url.split('#', 1)[0] ?? ''));
    const linked = [...(await open('/docs')).matchAll(/href="(\/docs\/[^"#]+)"/g)].map(([, to = '']) => to);
    expect(linked.filter((to) => !found.has(to))).toEqual([]);
    for (const { url, heading, text } of entries) {
      const [path = '', anchor] = url.split('#');
      const page = await open(path);
      if (anchor) expect(page, url).toContain(`id="${anchor}"`);
      expect(`${heading}${text}`).not.toBe('');
    }
  });
});

it.each(SEARCHES)('the search for “%s” finds the right page among the first three', async (query, ...right) => {
  const path = '../../web/assets/docs-search.js';
  const { prepare, find } = (await import(path)) as {
    prepare(entries: SearchEntry[]): object;
    find(index: object, typed: string): SearchEntry[];
  };
  searchIndex ??= prepare(JSON.parse(await open('/docs/search.json')));
  const found = find(searchIndex, query).map(({ url }) => url);
  const isRight = (url: string) => right.some((one) => (one.includes('#') ? url === one : url.startsWith(one)));
  expect(found.slice(0, 3).filter(isRight), `${query}: ${found.slice(0, 5).join(', ')}`).not.toEqual([]);
});

it.each(GUIDE_NAMES)('every link of /docs/%s to another page leads to one', async (name) => {
  const page = await open(`/docs/${name}`);
  const links = [...page.matchAll(/href="(\/docs[^"#?]*)/g)].map(([, path = '']) => path);
  expect(links).not.toEqual([]);
  for (const path of new Set(links)) expect([path, (await front.app.inject(path)).statusCode]).toEqual([path, 200]);
});

it('programs find all pages in llms.txt, and all of the text in llms-full.txt', async () => {
  const list = await open('/llms.txt');
  const links = [...list.matchAll(/\]\((http[^)]+)\)/g)].map(([, url = '']) => new URL(url).pathname);
  expect(links.length).toBeGreaterThan(GUIDE_NAMES.length + OPERATIONS.length);
  for (const path of links) expect([path, (await front.app.inject(path)).statusCode]).toEqual([path, 200]);
  const whole = await open('/llms-full.txt');
  for (const [path, { query }] of OPERATIONS) {
    expect(whole).toContain(`# GET ${path}: `);
    for (const name of Object.keys(query.shape)) expect(whole).toContain(`- \`${name}\``);
  }
  for (const name of GUIDE_NAMES) expect(whole).toContain(guide(name).split('\n', 1)[0]);
  expect(whole).not.toMatch(/localhost:3000|YOUR_ADDRESS|<!--/);
});

it('the changelog feed has an entry for each day, newest first, which links to its heading', async () => {
  const feed = await open('/docs/changelog.atom');
  const days = [...guide('changelog').matchAll(/^## (\d{4}-\d{2}-\d{2})/gm)].map(([, day]) => day);
  expect(days).toEqual(days.toSorted().reverse());
  expect([...feed.matchAll(/<entry>.*?<updated>([^<]+)T00:00:00Z</gs)].map(([, day]) => day)).toEqual(days);
  const page = await open('/docs/changelog');
  for (const [, anchor] of feed.matchAll(/<link href="[^"]+#([^"]+)"/g)) expect(page).toContain(`id="${anchor}"`);
  expect(page).toContain('type="application/atom+xml"');
});

it.each([
  ['/docs/operations/trips?from=202020&to=209573', '/docs/reference/trips?from=202020&to=209573'],
  ['/docs/operations/departures-stream', '/docs/reference/departures-stream'],
  ['/docs/operations', '/docs/reference'],
  ['/docs/fields', '/docs/reference'],
  ['/docs/polling', '/docs/limits'],
  ['/docs/integrations', '/docs/display'],
  ['/docs/first-day', '/docs'],
])('the former address %s leads to the present page', async (from, to) => {
  const { statusCode, headers } = await front.app.inject(from);
  expect([statusCode, headers.location]).toEqual([301, to]);
  expect((await front.app.inject(to)).statusCode).toBe(200);
});

it('the clients and examples can be downloaded as text, with the address of this service', async () => {
  const page = await open('/docs/clients');
  const links = [...page.matchAll(/href="(\/docs\/clients\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(links.length).toBeGreaterThan(10);
  for (const path of [...links, '/docs/clients/typescript/transit.ts']) {
    const { statusCode, headers, body } = await front.app.inject(path);
    expect([path, statusCode, headers['content-type']]).toEqual([path, 200, 'text/plain; charset=utf-8']);
    expect(body).not.toContain('localhost:3000');
  }
});

it('a record that a response has in several places is described once', async () => {
  const page = await open('/docs/reference/trips-journey_id');
  expect(page).toContain(
    'Its fields are those of <a href="#field-journey-legs-origin"><code>journey.legs[].origin</code></a>',
  );
  expect(page).not.toContain('id="field-next_journeys-legs-origin-stop_id"');
});

describe('the contact for a larger plan', () => {
  it('the page of limits names the contact for a larger plan', async () => {
    expect(await open('/docs/limits')).toContain('href="mailto:contact@example.test"');
  });

  it('the page of limits says that there is no contact when the operator has named none', () => {
    expect(plansContactText(null).markup).toContain('has named no contact');
  });
});
