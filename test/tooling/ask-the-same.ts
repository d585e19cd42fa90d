import fc from 'fast-check';

/**
 * What properties are asked with. The same commit is asked the same questions, so that a suite tells of a change and
 * not of chance; `HOLDPOINT_SEED` asks others, `HOLDPOINT_RUNS` more of them (`npm run properties`).
 */
const { HOLDPOINT_SEED = '20261123', HOLDPOINT_RUNS } = process.env;

fc.configureGlobal({
  seed: Number(HOLDPOINT_SEED),
  ...(HOLDPOINT_RUNS === undefined ? {} : { numRuns: Number(HOLDPOINT_RUNS) }),
});
