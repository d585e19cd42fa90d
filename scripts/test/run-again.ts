import { spawnSync } from 'node:child_process';
import { relative } from 'node:path';
import type { Tally, TestTally } from './count-tests.ts';

/** Files that may fail for a reason that is gone when they run by themselves; more have another reason. */
const most = 5;

/**
 * Runs each file that failed once more, by itself, and names those that then pass as flaky: they count as passed.
 * `command` is this program with its arguments, to which a file is added.
 */
export function runAgain(tally: TestTally, command: readonly [string, ...string[]]): Tally {
  let { passed, failed } = tally;
  if (tally.failing.size > most) return { passed, failed };
  const flaky: string[] = [];
  for (const [file, before] of tally.failing) {
    const [program, ...args] = command;
    const { status, stdout } = spawnSync(program, [...args, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
      maxBuffer: 256 * 1024 * 1024,
    });
    process.stdout.write(stdout);
    const [, now] = /\n(\d+) passed, 0 failed\n$/.exec(stdout) ?? [];
    if (status !== 0 || now === undefined) continue;
    flaky.push(relative(process.cwd(), file));
    passed += Number(now) - before.passed;
    failed -= before.failed;
  }
  for (const file of flaky) console.log(`flaky: ${file}`);
  return { passed, failed };
}
