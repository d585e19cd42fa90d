import { describe, expect, it } from 'vitest';
import { takeBack } from '../src/take-back.ts';

describe('takeBack', () => {
  it('takes every step back, the latest first, one after the other, and forgets them', async () => {
    const done: string[] = [];
    const steps = [
      () => done.push('first'),
      async () => {
        await Promise.resolve();
        done.push('second');
      },
    ];
    await takeBack(steps);
    expect([done, steps]).toEqual([['second', 'first'], []]);
  });

  it('takes the others back when one fails, and rejects with the first failure', async () => {
    const done: string[] = [];
    const [disk, socket] = [new Error('the disk is full'), new Error('the socket is gone')];
    const steps = [
      () => done.push('lock'),
      () => Promise.reject(socket),
      () => {
        throw disk;
      },
    ];
    await expect(takeBack(steps)).rejects.toBe(disk);
    expect(done).toEqual(['lock']);
  });
});
