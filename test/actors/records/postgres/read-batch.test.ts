import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ReadBatch } from '../../../../src/actors/records/postgres/read-batch.ts';

describe('a batch of reads', () => {
  it('sends one statement for the reads of a turn, each key once', async () => {
    const sent: string[][] = [];
    const batch = new ReadBatch(async (keys) => {
      sent.push(keys);
      return new Map(keys.filter((key) => key !== 'c').map((key) => [key, `${key}!`]));
    });
    const read = ['a', 'b', 'a', 'c'].map((key) => batch.get(key));
    expect(await Promise.all(read)).toEqual(['a!', 'b!', 'a!', undefined]);
    expect(await batch.get('a')).toBe('a!');
    expect(sent).toEqual([['a', 'b', 'c'], ['a']]);
  });

  it('reads again what is requested while a statement runs', async () => {
    const answers: ((value: number) => void)[] = [];
    const batch = new ReadBatch(async ([key = '']) => {
      const value = await new Promise<number>((resolve) => answers.push(resolve));
      return new Map([[key, value]]);
    });
    const first = batch.get('a');
    await turn();
    const second = batch.get('a');
    await turn();
    for (const [at, answer] of answers.entries()) answer(at);
    expect(await Promise.all([first, second])).toEqual([0, 1]);
  });

  it('bounds a statement, and rejects only the reads of a failed one', async () => {
    const batch = new ReadBatch(async (keys) => {
      if (keys.includes('0')) throw new Error('gone');
      return new Map(keys.map((key) => [key, keys.length]));
    });
    const read = Array.from({ length: 700 }, (_, at) => batch.get(String(at)));
    const settled = await Promise.allSettled(read);
    expect(settled.filter(({ status }) => status === 'rejected').length).toBe(500);
    expect(settled.at(-1)).toEqual({ status: 'fulfilled', value: 200 });
  });

  it('sends no key with a NUL, which PostgreSQL refuses', async () => {
    const batch = new ReadBatch(async (keys) => new Map(keys.map((key) => [key, keys])));
    expect(await Promise.all([batch.get('a\0'), batch.get('b')])).toEqual([undefined, ['b']]);
  });
});
