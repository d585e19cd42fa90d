// Runs the tests and, beside them, the checks; says at last what failed and how many of each did what. A file that fails
// runs once more by itself when all are done: one that then passes is named as flaky.
// Arguments are those of `vitest run`. Whoever names files wants these tests alone, so no check runs.
import { parseCLI, startVitest } from 'vitest/node';
import { countTests } from './test/count-tests.ts';
import { runAgain } from './test/run-again.ts';
import { type CheckResult, runCheck } from './test/run-check.ts';

/** The cheapest first. */
const checks = [
  'format:check',
  'lint',
  'arrows',
  'types',
  'configuration:check',
  'statecharts:check',
  'knip',
];

const folder = process.cwd();
const { filter, options } = parseCLI(['vitest', 'run', ...process.argv.slice(2)]);
const [first, results] = await Promise.all([
  runTests(),
  runChecks(filter.length === 0 ? checks : []),
]);

for (const { name, passed, seconds } of results) {
  console.log(` ${passed ? '✓' : '✗'} npm run ${name}  ${seconds.toFixed(1)} s`);
}
const broken = results.filter(({ passed }) => !passed);
for (const { name, output } of broken) console.log(`\nnpm run ${name} failed:\n${output}`);

const isWhole = filter.length === 0 && first.failing.size > 0;
const tests = isWhole
  ? runAgain(first, [process.execPath, ...process.execArgv, ...process.argv.slice(1)])
  : first;
const passed = tests.passed + results.length - broken.length;
const failed = tests.failed + broken.length;
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

async function runTests() {
  const vitest = await startVitest('test', filter, { ...options, watch: false });
  const tally = countTests(vitest);
  await vitest.close();
  return tally;
}

/** One after the other: they have one core while the tests have the others. */
async function runChecks(names: readonly string[]): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const name of names) results.push(await runCheck(name, folder));
  return results;
}
