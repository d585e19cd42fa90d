/** What `npm test` runs, and what `npm run test:long` does. */
export type Suite = 'usual' | 'long';

/** The suite that is asked for. */
export function suiteOf({ HOLDPOINT_SUITE }: NodeJS.ProcessEnv = process.env): Suite {
  return HOLDPOINT_SUITE === 'long' ? 'long' : 'usual';
}

/**
 * Returns how many cases a slow property is asked: a fifth of the whole number in `npm test`, all of them in
 * `npm run test:long` and `npm run properties`, and as many as `HOLDPOINT_RUNS` says where that is set.
 */
export function runs(whole: number): number {
  const { HOLDPOINT_RUNS } = process.env;
  if (HOLDPOINT_RUNS !== undefined) return Number(HOLDPOINT_RUNS);
  return suiteOf() === 'long' ? whole : Math.ceil(whole / 5);
}
