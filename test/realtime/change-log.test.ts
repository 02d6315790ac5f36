import { describe, expect, it } from 'vitest';
import { ChangeLog } from '#src/boards/timeline.ts';

const MINUTE = 60_000;
const change = (key: string, minute = 5) => ({ key, at: minute * MINUTE });

describe('the departure monitor is asked about a change', () => {
  it('once, however often the change is seen', () => {
    const log = new ChangeLog();
    log.note([change('one')], 0);
    expect(log.findDue(0)).toEqual(change('one'));
    log.asked(0);
    log.settle({ until: 10 * MINUTE, retrievedAt: 1000 });
    log.note([change('one')], 2 * MINUTE);
    expect(log.findDue(2 * MINUTE)).toBeNull();
  });

  it('at most once a minute, about the earliest first', () => {
    const log = new ChangeLog();
    log.note([change('one', 30)], 0);
    log.asked(0);
    log.settle({ until: 40 * MINUTE, retrievedAt: 1000 });
    log.note([change('later', 30), change('sooner', 5)], 2000);
    expect(log.findDue(59_999)).toBeNull();
    expect(log.findDue(60_000)).toEqual(change('sooner', 5));
  });

  it('together with the others that the same response covers', () => {
    const log = new ChangeLog();
    log.note([change('one', 5), change('two', 9), change('beyond', 20)], 0);
    log.asked(0);
    log.settle({ until: 10 * MINUTE, retrievedAt: 1000 });
    expect(log.findDue(MINUTE)).toEqual(change('beyond', 20));
  });

  it('not when it was noted after the response', () => {
    const log = new ChangeLog();
    log.note([change('one')], 2000);
    log.settle({ until: 10 * MINUTE, retrievedAt: 1000 });
    expect(log.findDue(3000)).toEqual(change('one'));
  });

  it('not again when a response about it does not reach it', () => {
    const log = new ChangeLog();
    log.note([change('one', 30)], 0);
    log.settle({ until: 10 * MINUTE, retrievedAt: 1000 }, change('one', 30));
    expect(log.findDue(2 * MINUTE)).toBeNull();
  });

  it('again a minute later when the call failed', () => {
    const log = new ChangeLog();
    log.note([change('one')], 0);
    log.asked(0);
    expect(log.findDue(30_000)).toBeNull();
    expect(log.findDue(MINUTE)).toEqual(change('one'));
  });

  it('again when it comes back after two hours', () => {
    const log = new ChangeLog();
    log.note([change('one')], 0);
    log.settle({ until: 10 * MINUTE, retrievedAt: 1000 });
    log.note([], 121 * MINUTE);
    log.note([change('one')], 122 * MINUTE);
    expect(log.findDue(122 * MINUTE)).toEqual(change('one'));
  });

  it('and two hundred changes are remembered at most', () => {
    const log = new ChangeLog();
    log.note(
      Array.from({ length: 250 }, (_, index) => change(`change ${index}`, index)),
      0,
    );
    expect(log.findDue(0)).toEqual(change('change 50', 50));
  });
});
