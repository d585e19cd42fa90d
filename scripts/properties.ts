// Asks every property of the tests what it has not been asked: `npm run properties -- --times 10` with ten seeds by
// chance, `--seed 7` with that one, `--runs 5000` with so many cases each. Ends with the seeds that found something.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { seed, runs, times } = parseArgs({
  options: {
    seed: { type: 'string' },
    runs: { type: 'string' },
    times: { type: 'string', default: '1' },
  },
}).values;

const files = globSync('test/**/*.test.ts').filter((path) =>
  readFileSync(path, 'utf8').includes("from 'fast-check'"),
);
const found = Array.from(
  { length: Number(times) },
  () => seed ?? String(randomInt(2 ** 31)),
).filter((asked) => {
  console.log(`seed ${asked}`);
  const { status } = spawnSync('vitest', ['run', '--reporter=dot', ...files], {
    stdio: 'inherit',
    env: {
      ...process.env,
      HOLDPOINT_SUITE: 'long',
      HOLDPOINT_SEED: asked,
      ...(runs === undefined ? {} : { HOLDPOINT_RUNS: runs }),
    },
  });
  return status !== 0;
});
console.log(
  found.length === 0
    ? 'every property held'
    : `found something: ${found.map((asked) => `npm run properties -- --seed ${asked}`).join(', ')}`,
);
process.exitCode = found.length === 0 ? 0 : 1;
