import type { BigIntStats } from 'node:fs';

const mostRemembered = 100_000;

/**
 * Maximum timestamp resolution of file systems in milliseconds; two changes within this time may have equal timestamps.
 */
const coarsestTimes = 2_000;

/** Returns a function that caches a value per file, until the file's size, timestamps or inode change. */
export function rememberedByState<Taken>(): (
  path: string,
  found: BigIntStats,
  take: () => Promise<Taken>,
) => Promise<Taken> {
  const remembered = new Map<string, { state: string; at: number; taking: Promise<Taken> }>();
  return async (path, { dev, ino, size, mtimeNs, ctimeNs, ctimeMs }, take) => {
    const state = [dev, ino, size, mtimeNs, ctimeNs].join(' ');
    const earlier = remembered.get(path);
    const isSettled = earlier !== undefined && earlier.at - Number(ctimeMs) > coarsestTimes;
    if (isSettled && earlier.state === state) return earlier.taking;
    if (remembered.size >= mostRemembered) remembered.clear();
    const one = { state, at: Date.now(), taking: take() };
    remembered.set(path, one);
    try {
      return await one.taking;
    } catch (error) {
      if (remembered.get(path) === one) remembered.delete(path);
      throw error;
    }
  };
}
