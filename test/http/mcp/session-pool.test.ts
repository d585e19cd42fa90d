import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SessionPool } from '../../../src/http/mcp/session-pool.ts';

/** A pool whose sessions are their ids, which says what it has ended. */
function aPool(most: number, mostOfShare: number, longestRest = 1_000) {
  let now = 0;
  const ended: string[] = [];
  const pool = new SessionPool<{ share: string; close: () => void }>(
    { most, mostOfShare, longestRest },
    { now: () => now },
  );
  return {
    pool,
    ended,
    add: (id: string, share: string) => pool.add(id, { share, close: () => void ended.push(id) }),
    wait: (milliseconds: number) => void (now += milliseconds),
  };
}

describe('SessionPool', () => {
  it('makes room by the session that was used longest ago', () => {
    const { pool, add, ended } = aPool(3, 3);
    for (const id of ['a', 'b', 'c']) add(id, 'ann');
    pool.find('a');
    add('d', 'ann');
    expect([ended, pool.find('b'), pool.size]).toEqual([['b'], null, 3]);
  });

  it('never ends a session with a call under way, and takes no other while all have one', () => {
    const { pool, add, ended } = aPool(2, 2);
    for (const id of ['a', 'b']) add(id, 'ann');
    const [first, second, other] = [pool.begin('a'), pool.begin('a'), pool.begin('b')];
    expect([pool.hasRoom('ann'), pool.hasRoom('bob')]).toEqual([false, false]);
    first();
    expect(pool.hasRoom('bob')).toBe(false);
    second();
    expect(pool.hasRoom('bob')).toBe(true);
    add('c', 'bob');
    expect(ended).toEqual(['a']);
    other();
    expect(pool.size).toBe(2);
  });

  it('gives nobody all of them: whoever has their share makes room of their own', () => {
    const { pool, add, ended } = aPool(4, 2);
    add('b1', 'bob');
    for (const id of ['a1', 'a2', 'a3']) add(id, 'ann');
    expect(ended).toEqual(['a1']);
    pool.begin('a2');
    pool.begin('a3');
    expect([pool.hasRoom('ann'), pool.hasRoom('bob')]).toEqual([false, true]);
  });

  it('takes room from a newcomer first when there is none in all', () => {
    const { add, ended } = aPool(3, 3);
    add('b1', 'bob');
    add('a1', 'ann');
    add('a2', 'ann');
    add('a3', 'ann');
    expect(ended).toEqual(['a1']);
    add('c1', 'cid');
    expect(ended).toEqual(['a1', 'b1']);
  });

  it('ends what nobody has used for long, but no call that lasts longer', () => {
    const { pool, add, ended, wait } = aPool(9, 9);
    for (const id of ['a', 'b', 'c']) add(id, 'ann');
    const done = pool.begin('b');
    wait(900);
    pool.find('c');
    wait(200);
    expect(pool.find('a')).toBeNull();
    add('d', 'ann');
    expect([ended, pool.size]).toEqual([['a'], 3]);
    done();
    wait(900);
    expect(pool.find('b')).not.toBeNull();
  });

  it('forgets what has ended by itself, with its calls', () => {
    const { pool, add, ended } = aPool(1, 1);
    add('a', 'ann');
    const done = pool.begin('a');
    pool.delete('a');
    add('b', 'ann');
    done();
    expect([ended, pool.size, pool.find('b') === null]).toEqual([[], 1, false]);
  });

  it('keeps its limits and every session with a call, whatever happens', () => {
    const step = fc.record({
      what: fc.constantFrom('add', 'find', 'begin', 'done', 'delete', 'wait'),
      which: fc.nat(30),
      share: fc.constantFrom('ann', 'bob', 'cid'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const { pool, add, ended, wait } = aPool(6, 4, 50);
        const shares = new Map<string, string>();
        const calls = new Map<string, (() => void)[]>();
        for (const [index, { what, which, share }] of steps.entries()) {
          const known = [...shares.keys()];
          const id = known[which % Math.max(1, known.length)];
          if (what === 'add' && pool.hasRoom(share)) {
            add(`s${index}`, share);
            shares.set(`s${index}`, share);
          }
          if (what === 'wait') wait(which);
          if (id === undefined) continue;
          if (what === 'find') pool.find(id);
          if (what === 'begin' && !ended.includes(id)) {
            calls.set(id, [...(calls.get(id) ?? []), pool.begin(id)]);
          }
          if (what === 'done') calls.get(id)?.pop()?.();
          if (what === 'delete') {
            pool.delete(id);
            shares.delete(id);
            calls.delete(id);
          }
          for (const gone of ended) {
            expect(calls.get(gone)?.length ?? 0).toBe(0);
            shares.delete(gone);
          }
          expect(pool.size).toBe(shares.size);
          expect(pool.size).toBeLessThanOrEqual(6);
          for (const who of ['ann', 'bob', 'cid']) {
            const had = [...shares.values()].filter((one) => one === who).length;
            expect(had).toBeLessThanOrEqual(4);
          }
        }
      }),
    );
  });
});
