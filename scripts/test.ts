// Runs the tests and, in parallel, the checks; says at last what failed and how many of each did what. A file that fails
// runs once more by itself when all are done: one that then passes is named as flaky.
// Arguments are those of `vitest run`. Where files are named, these tests alone run and no check; the long suite has no
// check either. `--touched` runs every check, and of the tests those that the change calls for.
import { parseCLI, startVitest } from 'vitest/node';
import { suiteOf } from '../test/helpers/runs.ts';
import { checks } from './test/checks.ts';
import { countTests } from './test/count-tests.ts';
import { runAgain } from './test/run-again.ts';
import { type CheckResult, runCheck } from './test/run-check.ts';
import { changedFiles, touchedTests } from './test/touched-tests.ts';

const folder = process.cwd();
const own = process.argv.slice(2);
const words = own.includes('--touched') ? touchedWords() : own;
const { filter, options } = parseCLI(['vitest', 'run', ...(words ?? [])]);
const isWhole = own.includes('--touched') || filter.length === 0;
const [first, results] = await Promise.all([
  words === null ? { passed: 0, failed: 0, failing: new Map() } : runTests(),
  runChecks(isWhole && suiteOf() === 'usual' ? checks : []),
]);

for (const { name, passed, seconds } of results) {
  console.log(` ${passed ? '✓' : '✗'} npm run ${name}  ${seconds.toFixed(1)} s`);
}
const broken = results.filter(({ passed }) => !passed);
for (const { name, output } of broken) console.log(`\nnpm run ${name} failed:\n${output}`);

const again = own.filter((word) => word !== '--touched');
const tests =
  isWhole && first.failing.size > 0
    ? runAgain(first, [process.execPath, ...process.execArgv, import.meta.filename, ...again])
    : first;
const passed = tests.passed + results.length - broken.length;
const failed = tests.failed + broken.length;
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** The words for the tests that a change calls for; `null` where it calls for none. */
function touchedWords(): string[] | null {
  const changed = changedFiles(folder);
  const { tests, left } = touchedTests(folder, changed);
  if (tests === null) return ['--project=pure', '--project=sockets'];
  console.log(
    `${changed.length} files changed: ${tests.length} files of tests reach them nearly, ${left} more from afar`,
  );
  return tests.length === 0 ? null : [...tests];
}

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
