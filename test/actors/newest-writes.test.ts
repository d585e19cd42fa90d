import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { NewestWrites } from '../../src/actors/newest-writes.ts';
import { ManualClock } from '../helpers/manual-clock.ts';

let clock: ManualClock;
let writes: NewestWrites;
let tried: string[];
let failures: string[];
let ends: PromiseWithResolvers<void>[];

beforeEach(() => {
  clock = new ManualClock(0);
  writes = new NewestWrites(clock);
  tried = [];
  failures = [];
  ends = [];
});

function keep(thing: string, value: string): void {
  const write = () => {
    tried.push(`${thing} ${value}`);
    const end = Promise.withResolvers<void>();
    ends.push(end);
    return end.promise;
  };
  writes.keep(thing, write, () => void failures.push(`${thing} ${value}`));
}

/** Has the write that was tried last end. */
async function end(isWritten = true): Promise<void> {
  const last = ends.at(-1);
  if (isWritten) last?.resolve();
  else last?.reject(new Error('the server is gone'));
  await setImmediate();
}

describe('the newest writes', () => {
  it('run one at a time for each key, and skip outdated values', async () => {
    keep('a', '1');
    keep('a', '2');
    keep('a', '3');
    const first = [...tried];
    await end();
    await end();
    keep('b', '1');
    keep('a', '4');
    expect([first, tried]).toEqual([['a 1'], ['a 1', 'a 3', 'b 1', 'a 4']]);
  });

  it('are retried after a pause, unless a newer value replaced them', async () => {
    keep('a', '1');
    await end(false);
    clock.advance(4_999);
    const early = [...tried];
    clock.advance(1);
    await setImmediate();
    await end(false);
    keep('a', '2');
    clock.advance(5_000);
    await setImmediate();
    await end();
    expect([early, tried, failures, clock.pending]).toEqual([
      ['a 1'],
      ['a 1', 'a 1', 'a 2'],
      ['a 1', 'a 1'],
      0,
    ]);
  });

  it('are not retried after they are dropped', async () => {
    keep('a', '1');
    keep('a', '2');
    writes.forget('a');
    await end(false);
    expect([tried, clock.pending]).toEqual([['a 1'], 0]);
  });

  it('report the answer of the current write, although it will be retried', async () => {
    keep('a', '1');
    let isAnswered = false;
    const answered = writes.answered('a').then(() => {
      isAnswered = true;
    });
    await setImmediate();
    const before = isAnswered;
    await end(false);
    await answered;
    await writes.answered('b');
    expect(before).toBe(false);
  });

  it('are tried a last time at the end, which waits for them', async () => {
    keep('a', '1');
    await end(false);
    let isOver = false;
    const stopped = writes.stop().then(() => {
      isOver = true;
    });
    await setImmediate();
    const before = isOver;
    await end(false);
    await stopped;
    expect([before, tried, clock.pending]).toEqual([false, ['a 1', 'a 1'], 0]);
  });

  it('delay the end by at most five seconds', async () => {
    keep('a', '1');
    const stopped = writes.stop();
    clock.advance(5_000);
    await stopped;
    expect(clock.pending).toBe(0);
  });
});
