import { describe, expect, it } from 'vitest';
import type { Priority } from '#src/core/turn-queue.ts';
import type { UpstreamRequest } from '#src/efa/request.ts';
import { statusFailure, timeoutFailure } from '#test/support/made-up-upstream.ts';
import { createProtected, DEPARTURES, settle } from '#test/support/protected.ts';

const SECOND = 1000;

/** An upstream that fails in the given way for requests whose text begins with "bad". */
function createPicky(failure: () => Error = () => statusFailure(500)) {
  const made = createProtected();
  const isBad = (request: object) => JSON.stringify(request).includes('"bad');
  made.upstream.outcome = (request) => (isBad(request) ? failure() : undefined);
  const send = (account: string, request: UpstreamRequest, priority: Priority = 'low') =>
    settle(made.protection.queryUpstream(request, { priority, accounts: new Set([account]) }));
  const board = (account: string, stopId: string, priority?: Priority) =>
    send(account, { ...DEPARTURES, stopId }, priority);
  const search = (account: string, text: string) => send(account, { kind: 'stopFinder', text });
  return { ...made, board, search };
}

describe('requests that are themselves at fault', () => {
  it.each([
    ['404', () => statusFailure(404)],
    ['400', () => statusFailure(400)],
  ])('requests at fault that fail with %s never open the breaker, even many different ones', async (_name, failure) => {
    const { clock, protection, board } = createPicky(failure);
    for (let one = 0; one < 30; one++) {
      board('free', `bad${one}`);
      await clock.advance(300);
    }
    expect(protection.state().isBreakerOpen).toBe(false);
  });

  it('a request at fault is retried after growing pauses, and gets its error in between', async () => {
    const { clock, upstream, board } = createPicky(() => statusFailure(404));
    const bad = [];
    for (let second = 0; second < 300; second++) {
      bad.push(board('free', 'bad'));
      await clock.advance(SECOND);
    }
    expect(bad.every(({ outcome }) => outcome.error)).toBe(true);
    expect(upstream.calls.length).toBeGreaterThan(6);
    expect(upstream.calls.length).toBeLessThan(14);
  });

  it('a request at fault is retried within a minute after it stops failing', async () => {
    const { clock, upstream, board } = createPicky(() => statusFailure(404));
    for (let second = 0; second < 300; second++) {
      board('free', 'bad');
      await clock.advance(SECOND);
    }
    upstream.outcome = () => undefined;
    await clock.advance(60 * SECOND);
    const sent = board('free', 'bad');
    await clock.advance(SECOND);
    expect(sent.outcome.value).toBeDefined();
  });

  it('successful responses to others show that a request failing with 500 is itself at fault', async () => {
    const { clock, upstream, search } = createPicky();
    for (let second = 0; second < 300; second++) {
      search('free', "bad o'connell");
      search('pro', `central ${second}`);
      await clock.advance(SECOND);
    }
    const bad = upstream.calls.length - 300;
    expect(bad).toBeGreaterThan(6);
    expect(bad).toBeLessThan(28);
  });

  it('three requests that fail with 500 repeatedly cost nobody else a response', async () => {
    const { clock, protection, search, board } = createPicky();
    const good = [];
    for (let second = 0; second < 120; second++) {
      for (const name of ["bad o'neill", "bad d'arcy", "bad king's"]) search('free', name);
      if (second % 7 === 0) good.push(search('free', `good ${second}`), board('free', `${second}`));
      await clock.advance(SECOND);
    }
    expect(good.filter(({ outcome }) => !outcome.value)).toEqual([]);
    expect(protection.state().isBreakerOpen).toBe(false);
  });
});

describe('an account whose nine requests a second all fail with 500', () => {
  it.each([
    ['every second', 1],
    ['every twelve seconds', 12],
  ])(
    'an account whose requests all fail does not affect another that makes requests %s',
    async (_name, everySeconds) => {
      const { clock, search, board } = createPicky();
      const good = [];
      for (let second = 0; second < 180; second++) {
        for (let one = 0; one < 9; one++) {
          search('free', `bad ${second} ${one}`);
          if (one === 4 && second % everySeconds === 0) {
            good.push(board('pro', `${second}`, 'high'), search('pro', `${second}`));
          }
          await clock.advance(SECOND / 9);
        }
      }
      await clock.advance(3 * SECOND);
      expect(good.length).toBeGreaterThan(28);
      expect(good.filter(({ outcome }) => !outcome.value)).toEqual([]);
    },
  );

  it('an account whose requests all fail with 500 still gets responses to other kinds of requests', async () => {
    const { clock, search, board } = createPicky();
    const good = [];
    for (let second = 0; second < 60; second++) {
      for (let one = 0; one < 9; one++) {
        search('pro', `bad ${second} ${one}`);
        if (one === 4 && second % 12 === 0) good.push(board('pro', `${second}`, 'high'));
        await clock.advance(SECOND / 9);
      }
    }
    expect(good.filter(({ outcome }) => !outcome.value)).toEqual([]);
  });

  it('an account whose requests all fail with 500 does not keep the breaker open after an outage', async () => {
    const { clock, protection, upstream, search, board } = createPicky();
    const picky = upstream.outcome;
    upstream.outcome = () => timeoutFailure();
    for (let one = 0; one < 8; one++) {
      board('pro', `${one}`);
      await clock.advance(SECOND);
    }
    expect(protection.state().isBreakerOpen).toBe(true);
    upstream.outcome = picky;
    let answeredAfter: number | null = null;
    for (let second = 0; second < 20 && answeredAfter === null; second++) {
      for (let one = 0; one < 9; one++) {
        search('free', `bad ${second} ${one}`);
        await clock.advance(SECOND / 9);
      }
      const good = board('pro', `later ${second}`);
      await clock.advance(250);
      if (good.outcome.value) answeredAfter = second;
    }
    expect(answeredAfter).toBeLessThanOrEqual(5);
  });
});

describe('an upstream that is down', () => {
  it.each([
    ['answers nothing', timeoutFailure],
    ['answers 500 to everything', () => statusFailure(500)],
  ])('an upstream that %s soon gets no more calls, even if only one account makes requests', async (_name, failure) => {
    const { clock, protection, upstream, board } = createPicky();
    for (let one = 0; one < 3; one++) board('free', `${one}`);
    await clock.advance(SECOND);
    const before = upstream.calls.length;
    upstream.outcome = failure;
    for (let second = 0; second < 60; second++) {
      board('free', `${second} a`);
      board('free', `${second} b`);
      await clock.advance(SECOND);
      if (second === 5) expect(protection.state().isBreakerOpen).toBe(true);
    }
    expect(upstream.calls.length - before).toBeLessThan(45);
  });

  it('an upstream that answers 500 gets little more than one call from each of many accounts', async () => {
    const { clock, protection, upstream, board } = createPicky(() => statusFailure(500));
    for (let second = 0; second < 60; second++) {
      for (let one = 0; one < 5; one++) board(`account ${(second * 5 + one) % 20}`, `bad ${second} ${one}`);
      await clock.advance(SECOND);
    }
    expect(protection.state().isBreakerOpen).toBe(true);
    expect(upstream.calls.length).toBeLessThan(110);
  });

  it('a single request without a response does not make upstream count as down', async () => {
    const { clock, protection, board } = createPicky(timeoutFailure);
    for (let one = 0; one < 20; one++) {
      board('free', 'bad');
      await clock.advance(2 * SECOND);
    }
    expect(protection.state().isBreakerOpen).toBe(false);
  });
});

describe('the probe of an open breaker', () => {
  it('a probe with a request at fault leaves the decision to the next request', async () => {
    const { clock, protection, upstream, board } = createPicky(() => statusFailure(404));
    const picky = upstream.outcome;
    upstream.outcome = timeoutFailure;
    for (let one = 0; one < 6; one++) {
      board('free', `${one}`);
      await clock.advance(SECOND);
    }
    expect(protection.state().isBreakerOpen).toBe(true);
    upstream.outcome = picky;
    await clock.advance(3 * SECOND);
    board('free', 'bad');
    await clock.advance(SECOND);
    const good = board('free', 'good');
    await clock.advance(SECOND);
    expect(good.outcome.value).toBeDefined();
    expect(protection.state().isBreakerOpen).toBe(false);
  });
});

describe('a key that upstream refuses with 403', () => {
  it('a key that upstream refuses with 403 is not used while another key works, and raises the alarm', async () => {
    const { protection, upstream, upstreams, log, clock, send } = createProtected({ keys: 2 });
    upstream.outcome = () => statusFailure(403);
    for (let stop = 0; stop < 20; stop++) expect((await send(`${stop}`)).value, `stop ${stop}`).toBeDefined();
    expect(upstreams.map(({ calls }) => calls.length)).toEqual([1, 20]);
    expect(protection.counts.keysRefused).toBe(1);
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    for (let second = 0; second < 180; second++) {
      expect((await send(`later ${second}`)).value).toBeDefined();
      await clock.advance(SECOND);
    }
    expect(upstreams[0]?.calls.length).toBeLessThanOrEqual(6);
    expect(protection.counts.keysRefused).toBeGreaterThan(2);
  });

  it('a key that upstream refuses with 403 stays in use if the other key is refused too', async () => {
    const { upstreams, send } = createProtected({ keys: 2 });
    const isBad = (request: object) => (request as { stopId: string }).stopId.startsWith('bad');
    for (const one of upstreams) one.outcome = (request) => (isBad(request) ? statusFailure(403) : undefined);
    for (let stop = 0; stop < 4; stop++) {
      expect((await send(`bad ${stop}`)).error).toMatchObject({ code: 'UPSTREAM_ERROR' });
      expect((await send(`${stop}`)).value).toBeDefined();
    }
    expect(upstreams.every(({ calls }) => calls.length > 4)).toBe(true);
  });

  it('a key that upstream refuses with 403 raises the alarm even if it is the only one', async () => {
    const { protection, upstream, log, send } = createProtected();
    upstream.outcome = () => statusFailure(403);
    expect((await send('1')).error).toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(protection.counts.keysRefused).toBe(1);
    expect(log.lines).toMatchObject([{ level: 'error', message: expect.stringMatching(/^ALARM/) }]);
  });

  it('a key that upstream refuses with 403 raises the alarm once a minute, however often it is refused', async () => {
    const { upstream, log, clock, send } = createProtected();
    upstream.outcome = () => statusFailure(403);
    for (let second = 0; second < 90; second++) {
      await send(`${second}`);
      await clock.advance(SECOND);
    }
    expect(upstream.calls.length).toBeGreaterThan(2);
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(2);
  });
});
