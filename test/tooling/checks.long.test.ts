import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checks } from '../../scripts/test/checks.ts';
import { runCheck } from '../../scripts/test/run-check.ts';
import { temporaryFolder } from '../helpers/test-system.ts';
import { root, runCommand } from './run-command.ts';

/** A package whose checks do what these lines of a shell say. */
function aPackage(scripts: Record<string, string>): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', scripts }));
  return folder;
}

it('the result of a check has its output and its exit code', async () => {
  const folder = aPackage({ types: 'echo one; echo two >&2; exit 3', lint: 'true' });
  const seconds = expect.any(Number);
  expect(await runCheck('lint', folder)).toEqual({
    name: 'lint',
    passed: true,
    output: '',
    seconds,
  });
  expect(await runCheck('types', folder)).toEqual({
    name: 'types',
    passed: false,
    output: 'one\ntwo',
    seconds,
  });
});

it('a missing check counts as failed', async () => {
  expect(await runCheck('none', aPackage({}))).toMatchObject({
    passed: false,
    output: expect.stringContaining('none'),
  });
});

/** Runs the whole of `npm test` on a package with these tests, and tells how it ended. */
async function testIn(
  broken: Record<string, string>,
  tests: string,
  ...args: string[]
): Promise<{ status: number; stdout: string; tally: string | undefined }> {
  const passing = Object.fromEntries(checks.map((name) => [name, 'true']));
  const folder = aPackage({ ...passing, ...broken });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'test'));
  writeFileSync(join(folder, 'test/one.test.ts'), `import { expect, it } from 'vitest';\n${tests}`);
  const flags = ['--disable-warning=ExperimentalWarning', join(root, 'scripts/test.ts')];
  const { status, stdout } = await runCommand('node', [...flags, ...args], folder);
  return { status, stdout, tally: stdout.trimEnd().split('\n').at(-1) };
}

const good = "it('holds', () => expect(1).toBe(1));\n";

it('tests and checks are counted together, and a failed check fails the run, with its name and output', async () => {
  const { status, stdout, tally } = await testIn({ knip: 'echo unused.ts; exit 1' }, good);
  expect({ status, tally }).toEqual({ status: 1, tally: `${checks.length} passed, 1 failed` });
  expect(stdout).toContain('npm run knip failed:\nunused.ts\n');
});

it.each([
  ['a failing test', `${good}it('breaks', () => expect(1).toBe(2));`, '1 passed, 1 failed'],
  ['a file that cannot be loaded', `${good}throw new Error('no');`, '0 passed, 1 failed'],
  [
    'an error that no test caught',
    `it('holds', () => void Promise.reject(new Error('no')));`,
    '1 passed, 1 failed',
  ],
])('a run fails for %s', async (_, tests, tally) => {
  expect(await testIn({}, tests, 'one')).toMatchObject({ status: 1, tally });
});

it('no check runs when a file is named, and an unknown file fails', async () => {
  expect(await testIn({}, good, 'one')).toMatchObject({ status: 0, tally: '1 passed, 0 failed' });
  expect(await testIn({}, good, 'two')).toMatchObject({ status: 1, tally: '0 passed, 1 failed' });
});

it('a failed file runs once more alone, and is named as flaky when it then passes', async () => {
  const once = `import { existsSync, writeFileSync } from 'node:fs';
it('fails once', () => {
  const isAgain = existsSync('ran');
  writeFileSync('ran', '');
  expect(isAgain).toBe(true);
});`;
  const { status, stdout, tally } = await testIn({}, `${good}${once}`);
  expect({ status, tally }).toEqual({ status: 0, tally: `${checks.length + 2} passed, 0 failed` });
  expect(stdout).toContain('\nflaky: test/one.test.ts\n');
});

it('a file that fails again fails the run', async () => {
  const { status, stdout, tally } = await testIn({}, `it('breaks', () => expect(1).toBe(2));`);
  expect({ status, tally }).toEqual({ status: 1, tally: `${checks.length} passed, 1 failed` });
  expect(stdout).not.toContain('flaky:');
});
