import { describe, expect, it } from 'vitest';
import { late } from '../../../src/dashboard/server/late.ts';

function counter() {
  const loads: string[] = [];
  const port = late(() => {
    loads.push('loaded');
    return Promise.resolve({
      add: (one: number, other: number) => Promise.resolve(one + other),
      refuse: () => Promise.reject(new Error('no')),
    });
  });
  return { loads, port };
}

describe('a lazily loaded module', () => {
  it('is loaded once, at its first call', async () => {
    const { loads, port } = counter();
    await expect(Promise.resolve(port)).resolves.toBe(port);
    expect(loads).toEqual([]);
    expect(await Promise.all([port.add(1, 2), port.add(3, 4)])).toEqual([3, 7]);
    expect(loads).toEqual(['loaded']);
  });

  it('rejects like its function, and like its import', async () => {
    await expect(counter().port.refuse()).rejects.toThrow('no');
    const broken = late<{ add: () => Promise<void> }>(() => Promise.reject(new Error('not there')));
    await expect(broken.add()).rejects.toThrow('not there');
  });
});
