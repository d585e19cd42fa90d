import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Places } from '../../../src/actors/channels/places.ts';

/** Places whose calls end when a test says. */
function somePlaces(most: number) {
  const places = new Places(most);
  const running: { name: string; key: string; end: () => void }[] = [];
  const begun: string[] = [];
  const run = (name: string, key: string, signal = new AbortController().signal) =>
    places.run(key, signal, async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      running.push({ name, key, end: resolve });
      begun.push(name);
      await promise;
      return name;
    });
  const turn = async () => {
    for (let count = 0; count < 8; count += 1) await Promise.resolve();
  };
  return { run, begun, running, turn };
}

const never = new AbortController().signal;

describe('places', () => {
  it('lets so many in at once, and one of each key, in the order in which they came', async () => {
    const { run, begun, running, turn } = somePlaces(2);
    const ends = Promise.all([run('a1', 'a'), run('a2', 'a'), run('b1', 'b'), run('c1', 'c')]);
    const steps = [];
    for (let step = 0; step < 4; step += 1) {
      await turn();
      steps.push(begun.join(' '));
      running.shift()?.end();
    }
    expect([steps, await ends]).toEqual([
      ['a1 b1', 'a1 b1 a2', 'a1 b1 a2 c1', 'a1 b1 a2 c1'],
      ['a1', 'a2', 'b1', 'c1'],
    ]);
  });

  it('gives the place of a call that failed to the next', async () => {
    const places = new Places(1);
    const failed = places.run('a', never, () => Promise.reject(new Error('no')));
    const next = places.run('a', never, () => Promise.resolve('yes'));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });

  it('forgets one that no longer waits, or never did', async () => {
    const { run, begun, running, turn } = somePlaces(1);
    const gone = new AbortController();
    const first = run('first', 'a');
    const second = run('second', 'a', gone.signal);
    const third = run('third', 'a');
    gone.abort(new Error('not needed'));
    await expect(second).rejects.toThrow('not needed');
    await expect(run('late', 'b', gone.signal)).rejects.toThrow('not needed');
    running.shift()?.end();
    await first;
    await turn();
    running.shift()?.end();
    expect([await third, begun]).toEqual(['third', ['first', 'third']]);
  });

  it('never has more at once than it may, and lets everybody in', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 20 }),
        fc.array(fc.nat(3), { minLength: 20, maxLength: 20 }),
        async (most, keys, picks) => {
          const { run, begun, running, turn } = somePlaces(most);
          const ends = Promise.all(keys.map((key, index) => run(String(index), key)));
          for (const pick of picks) {
            await turn();
            const now = running.map(({ key }) => key);
            expect(now.length).toBeLessThanOrEqual(most);
            expect(new Set(now).size).toBe(now.length);
            const [ended] = running.splice(pick % Math.max(1, running.length), 1);
            ended?.end();
          }
          await ends;
          expect(begun.length).toBe(keys.length);
        },
      ),
    );
  });
});
