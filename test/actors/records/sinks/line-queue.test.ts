import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineQueue } from '../../../../src/actors/records/sinks/line-queue.ts';

const line = (text: string): Uint8Array => Buffer.from(`${text}\n`);
const all = { lines: 1_000, bytes: 1_000_000 };

describe('a queue of lines', () => {
  it('drops new lines while it is full, by number or by size', () => {
    const byNumber = new LineQueue({ lines: 2, bytes: 100 });
    expect(['a', 'b', 'c'].map((text) => byNumber.push(line(text)))).toEqual([true, true, false]);
    const bySize = new LineQueue({ lines: 100, bytes: 5 });
    expect(['abc', 'd', ''].map((text) => bySize.push(line(text)))).toEqual([true, false, true]);
    expect([byNumber.dropped, byNumber.length, bySize.dropped, bySize.length]).toEqual([
      1, 2, 1, 2,
    ]);
    byNumber.remove(1);
    expect(byNumber.push(line('d'))).toBe(true);
    expect(byNumber.peek(all)).toEqual([line('b'), line('d')]);
  });

  it('has room again for as many bytes as were removed', () => {
    const queue = new LineQueue({ lines: 100, bytes: 6 });
    for (const text of ['a', 'b', 'c']) queue.push(line(text));
    expect(queue.push(line('d'))).toBe(false);
    queue.remove(2);
    expect(['def', 'e'].map((text) => queue.push(line(text)))).toEqual([true, false]);
    queue.remove(9);
    expect([queue.length, queue.push(line('fffff'))]).toEqual([0, true]);
    expect(queue.dropped).toBe(2);
  });

  it.each([
    [{ lines: 4, bytes: 100 }, [true, true, true, false, false]],
    [{ lines: 100, bytes: 8 }, [true, true, true, false, false]],
    [{ lines: 3, bytes: 100 }, [true, true, false, false]],
  ])('is relieved while it is at most half full: %j', (bounds, relieved) => {
    const queue = new LineQueue(bounds);
    const seen = [queue.isRelieved];
    while (queue.push(line('x'))) seen.push(queue.isRelieved);
    expect(seen).toEqual(relieved);
  });

  it('has a default limit of 10,000 lines or 16 MiB', () => {
    const byNumber = new LineQueue();
    while (byNumber.push(line('')));
    const bySize = new LineQueue();
    while (bySize.push(new Uint8Array(1024 * 1024)));
    expect([byNumber.length, bySize.length]).toEqual([10_000, 16]);
  });

  it('returns a batch by number and size, and at least one line', () => {
    const queue = new LineQueue();
    for (const text of ['aaaa', 'b', 'c']) queue.push(line(text));
    expect(queue.peek({ lines: 2, bytes: 100 })).toEqual([line('aaaa'), line('b')]);
    expect(queue.peek({ lines: 9, bytes: 7 })).toEqual([line('aaaa'), line('b')]);
    expect(queue.peek({ lines: 9, bytes: 1 })).toEqual([line('aaaa')]);
    expect(queue.length).toBe(3);
  });

  it('signals a new line, and stops waiting on request', async () => {
    const queue = new LineQueue();
    const { signal } = new AbortController();
    const waiting = queue.filled(signal);
    queue.push(line('a'));
    await waiting;
    await queue.filled(signal);
    queue.remove(1);
    const stopped = new AbortController();
    const never = queue.filled(stopped.signal);
    stopped.abort(new Error('enough'));
    await expect(never).rejects.toThrow('enough');
    await expect(queue.filled(stopped.signal)).rejects.toThrow('enough');
    for (const waited of [signal, stopped.signal]) {
      expect(getEventListeners(waited, 'abort')).toEqual([]);
    }
  });

  it('keeps the order, for any additions and removals', () => {
    const step = fc.oneof(
      fc.nat(5).map((add) => ({ add })),
      fc.nat(5).map((take) => ({ take })),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queue = new LineQueue({ lines: 8, bytes: 1_000 });
        const taken: string[] = [];
        const kept: string[] = [];
        let dropped = 0;
        let next = 0;
        for (const change of steps) {
          if ('take' in change) {
            const batch = queue.peek({ lines: change.take, bytes: 1_000 });
            taken.push(...batch.map(String));
            queue.remove(batch.length);
            continue;
          }
          for (let count = 0; count < change.add; count += 1) {
            next += 1;
            if (queue.push(line(`${next}`))) kept.push(`${next}\n`);
            else dropped += 1;
          }
        }
        taken.push(...queue.peek(all).map(String));
        expect(taken).toEqual(kept);
        expect(queue.dropped).toBe(dropped);
      }),
    );
  });
});
