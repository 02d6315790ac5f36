import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson, RESPONSE_LIMITS } from '#src/efa/response/json-reader.ts';

const RUNS = { seed: 20260415, numRuns: 100 };
const PATIENCE = { timeout: 30_000 };
const read = (text: string) => parseJson(Buffer.from(text));
/** A string long enough to make any response a large one. */
const LARGE = 'x'.repeat(260_000);

/** The outcome as text: the value or "refused". */
async function outcomeOf(reading: Promise<unknown>): Promise<string> {
  return reading.then(
    (value) => JSON.stringify(value)?.replace(LARGE, ''),
    () => 'refused',
  );
}

const parse = async (text: string): Promise<unknown> => JSON.parse(text);

const content = fc
  .dictionary(
    fc.oneof(fc.constantFrom('journeys', 'locations', '__proto__', 'version'), fc.string()),
    fc.oneof(fc.array(fc.jsonValue({ maxDepth: 4 })), fc.jsonValue({ maxDepth: 3 })),
    { maxKeys: 5 },
  )
  .map((value) => JSON.stringify(value).slice(1, -1));

describe('a large response', PATIENCE, () => {
  it('a large response reads the same as with JSON.parse', async () => {
    await fc.assert(
      fc.asyncProperty(content, async (text) => {
        const response = `{"large":["${LARGE}"]${text && ','}${text}}`;
        expect(await outcomeOf(read(response))).toBe(await outcomeOf(parse(response)));
      }),
      RUNS,
    );
  });

  it('a large response is refused where JSON.parse refuses it', async () => {
    const change = fc.record({
      at: fc.nat(),
      removed: fc.nat(1),
      added: fc.constantFrom('', '[', ']', '{', '}', ',', ':', '"', '\\', '0', ' ', 'x'),
    });
    await fc.assert(
      fc.asyncProperty(content, change, async (text, { at, removed, added }) => {
        const good = `${text}${text && ','}"list":[1,{"a":[2]},[3]],"object":{"a":[]}`;
        const place = at % good.length;
        const bad = good.slice(0, place) + added + good.slice(place + removed);
        const response = `{"large":["${LARGE}"],${bad}}`;
        expect(await outcomeOf(read(response))).toBe(await outcomeOf(parse(response)));
      }),
      RUNS,
    );
  });

  it.each(['[]', '[ ]', '[1,]', '[,1]', '[1 2]', '[[1]]', '[{}]', '["a,]"]', '["\\"],["]'])(
    'the list %s in a large response reads the same as with JSON.parse',
    async (list) => {
      const response = `{"large":["${LARGE}"],"list":${list}}`;
      expect(await outcomeOf(read(response))).toBe(await outcomeOf(parse(response)));
    },
  );
});

describe('limits of a response', () => {
  const { depth, records } = RESPONSE_LIMITS;
  const large = `"large":["${LARGE}"]`;
  const nested = (times: number) => `{${large},"journeys":${'['.repeat(times)}${']'.repeat(times)}}`;
  const list = (length: number) => `{"journeys":[${Array(length).fill('{}').join()}]}`;
  const largeList = (length: number) => `{${large},${list(length).slice(1)}`;

  it.each([
    ['lists of a large response are nested too deeply', nested(depth), 'nested'],
    ['a small response has too many records', list(records + 1), 'records'],
    ['a large response has too many records', largeList(records), 'records'],
  ])('a response is refused when %s', async (_name, response, reason) => {
    await expect(read(response)).rejects.toThrow(reason);
  });

  it('a response just within the limits is accepted', async () => {
    for (const response of [nested(depth - 1), list(records), largeList(records - 1)]) {
      expect(await read(response)).toEqual(JSON.parse(response));
    }
  });
});

describe('a small response', () => {
  it.each(['{"a":[1]}', '\ufeff{"a":[1]}', '[1]', 'null', '', '{"a":[1}', '{"a":'])(
    'the small response %s reads the same as with JSON.parse',
    async (response) => {
      expect(await outcomeOf(read(response))).toBe(await outcomeOf(parse(response.replace('\ufeff', ''))));
    },
  );

  it('a small response is read however deeply its lists are nested', async () => {
    const response = (await read(`{"journeys":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)) as { journeys: unknown };
    expect(response.journeys).toHaveLength(1);
  });
});
