import { describe, expect, it } from 'vitest';
import { nextTurn } from '#src/core/event-loop-turn.ts';

describe('pieces of work waiting for an event-loop turn', () => {
  it('pieces of work waiting for an event-loop turn run in order of arrival, one per turn', async () => {
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const pieces = await Promise.all(
      ['first', 'second', 'third'].map(async (name) => {
        await nextTurn();
        return { name, turn: turns };
      }),
    );
    isOver = true;
    expect(pieces.map(({ name }) => name)).toEqual(['first', 'second', 'third']);
    expect(new Set(pieces.map((piece) => piece.turn)).size).toBe(3);
  });

  it('pieces of work waiting for an event-loop turn run after requests that arrived meanwhile', async () => {
    const done: string[] = [];
    const first = nextTurn();
    const second = nextTurn().then(() => done.push('second piece'));
    await first;
    setImmediate(() => done.push('request'));
    await second;
    expect(done).toEqual(['request', 'second piece']);
  });
});
