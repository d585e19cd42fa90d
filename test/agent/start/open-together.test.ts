import { describe, expect, it } from 'vitest';
import { openTogether } from '../../../src/agent/start/open-together.ts';

const cause = new Error('no port is free');
const disk = new Error('the disk is full');
const socket = new Error('the socket is gone');

/** Puts three parts on a stack, of which the second and the third cannot be closed. */
function fill(stack: AsyncDisposableStack, closed: string[]): void {
  stack.defer(() => void closed.push('lock'));
  stack.defer(async () => {
    await Promise.resolve();
    closed.push('socket');
    throw socket;
  });
  stack.defer(() => {
    closed.push('disk');
    throw disk;
  });
}

describe('openTogether', () => {
  it('closes every part once, the latest first, and rejects with the first failure', async () => {
    const closed: string[] = [];
    const opened = await openTogether(async (stack) => {
      fill(stack, closed);
      return { port: 1 };
    });
    expect([opened.port, closed]).toEqual([1, []]);
    await expect(opened[Symbol.asyncDispose]()).rejects.toBe(disk);
    await opened[Symbol.asyncDispose]();
    expect(closed).toEqual(['disk', 'socket', 'lock']);
  });

  it('closes the opened parts when a later one fails, and rejects with that failure', async () => {
    const closed: string[] = [];
    const opening = openTogether(async (stack) => {
      fill(stack, closed);
      stack.use(
        await openTogether(async (inner) => {
          inner.defer(() => void closed.push('inner'));
          throw cause;
        }),
      );
      return {};
    });
    await expect(opening).rejects.toBe(cause);
    expect(closed).toEqual(['inner', 'disk', 'socket', 'lock']);
  });
});
