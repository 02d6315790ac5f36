import { describe, expect, it } from 'vitest';
import { parseNumber, parseObject } from '#src/efa/response/field.ts';
import { mapRecords } from '#src/efa/response/record.ts';
import { ApiError } from '#src/errors/api-error.ts';
import { getOrLeaveOut, isEveryday, LeftOut, sumLeftOut } from '#src/transit/left-out.ts';

const read = (record: unknown) => {
  const id = parseNumber(parseObject(record)?.id);
  return id === undefined ? undefined : { id };
};
const map = ({ id }: { id: number }) => {
  if (id < 0) throw new LeftOut('cancelled');
  if (id === 0) throw new TypeError('a record that no mapper foresaw');
  return getOrLeaveOut(id > 100 ? null : id, 'no time');
};

describe('mapping records', () => {
  it('records are mapped separately and in order, and those left out are counted by reason', async () => {
    const records = [{ id: 3 }, null, { id: -1 }, { id: 1 }, { id: 0 }, 'x', { id: 200 }, { id: -2 }];
    expect(await mapRecords(records, read, map)).toEqual({
      kept: [3, 1],
      leftOut: { malformed: 3, cancelled: 2, 'no time': 1 },
    });
  });

  it('a list of records may be empty', async () => {
    expect(await mapRecords([], read, map)).toEqual({ kept: [], leftOut: {} });
  });

  it('mapping many records yields to other work', async () => {
    let turns = 0;
    let isMapping = true;
    const count = () => {
      turns++;
      if (isMapping) setImmediate(count);
    };
    setImmediate(count);
    await mapRecords([{ id: 1 }, { id: 2 }, { id: 3 }], read, (record) => {
      for (const start = performance.now(); performance.now() - start < 15; );
      return record;
    });
    isMapping = false;
    expect(turns).toBeGreaterThanOrEqual(2);
  });

  it('a list with only malformed records is an error, not an empty response', async () => {
    await expect(mapRecords([null, { id: 200 }], read, map)).rejects.toThrow(ApiError);
  });

  it('a list whose readable records are all left out on purpose is an empty response', async () => {
    expect((await mapRecords([{ id: -1 }, null], read, map)).kept).toEqual([]);
  });
});

describe('counts of records left out', () => {
  it('counts of records left out are added up by reason', () => {
    const counts = [{ cancelled: 2 }, {}, { 'not requested': 1, cancelled: 1 }] as const;
    expect(sumLeftOut(counts)).toEqual({ cancelled: 3, 'not requested': 1 });
  });

  it.each([
    [{ cancelled: 3, 'not requested': 1 }, true],
    [{}, true],
    [{ cancelled: 2, malformed: 1 }, false],
    [{ 'unknown product class': 1 }, false],
  ])('the counts of records left out %j are routine: %j', (counts, expected) => {
    expect(isEveryday(counts)).toBe(expected);
  });
});
