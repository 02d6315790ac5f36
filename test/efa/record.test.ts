import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { LeftOut, logLeftOut, mapRecords, need } from '#src/efa/record.ts';
import { ApiError } from '#src/errors.ts';

const schema = z.object({ id: z.number() });
const map = ({ id }: { id: number }) => {
  if (id < 0) throw new LeftOut('cancelled');
  if (id === 0) throw new TypeError('a record that no mapper foresaw');
  return need(id > 100 ? null : id, 'no time');
};

describe('records', () => {
  it('are mapped each in a guard of its own, in their order; what is left out is counted by reason', () => {
    const records = [{ id: 3 }, null, { id: -1 }, { id: 1 }, { id: 0 }, 'x', { id: 200 }, { id: -2 }];
    expect(mapRecords(records, schema, map)).toEqual({
      kept: [3, 1],
      leftOut: { malformed: 3, cancelled: 2, 'no time': 1 },
    });
  });

  it('none at all is no error', () => {
    expect(mapRecords([], schema, map)).toEqual({ kept: [], leftOut: {} });
  });

  it('of which every one is bad are an error: an empty answer would be a lie', () => {
    expect(() => mapRecords([null, { id: 200 }], schema, map)).toThrow(ApiError);
  });

  it('of which the readable ones are left out by decision are an empty answer', () => {
    expect(mapRecords([{ id: -1 }, null], schema, map).kept).toEqual([]);
  });
});

describe('the log of what was left out', () => {
  it.each([
    [[{ cancelled: 2 }, { 'not asked for': 1, cancelled: 1 }], 'debug', { cancelled: 3, 'not asked for': 1 }],
    [[{ cancelled: 2 }, { malformed: 1 }], 'warn', { cancelled: 2, malformed: 1 }],
    [[{ 'unknown product class': 1 }], 'warn', { 'unknown product class': 1 }],
    [[{ 'missed change': 1 }, { 'beyond the limit': 2 }], 'debug', { 'missed change': 1, 'beyond the limit': 2 }],
    [[{ 'of another question': 1 }], 'warn', { 'of another question': 1 }],
  ] as const)('%j is one line at level %s', (counts, level, leftOut) => {
    const log = { warn: vi.fn(), debug: vi.fn() };
    logLeftOut(log, ...counts);
    expect(log[level].mock.calls).toEqual([[{ leftOut }, expect.any(String)]]);
    expect(log[level === 'warn' ? 'debug' : 'warn']).not.toHaveBeenCalled();
  });

  it('is silent when nothing was', () => {
    const log = { warn: vi.fn(), debug: vi.fn() };
    logLeftOut(log, {}, {});
    expect(log.warn).not.toHaveBeenCalled();
    expect(log.debug).not.toHaveBeenCalled();
  });
});
