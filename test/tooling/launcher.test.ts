import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { root, runCommand } from './run-command.ts';

it('runs the command of its clone on the pinned Node, with every argument as it was given', async () => {
  const clone = aClone();
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  const { status, stdout } = await runCommand(join(clone, 'bin/holdpoint'), ['a b', '', '$HOME']);
  expect({ status, ...(JSON.parse(stdout) as object) }).toEqual({
    status: 3,
    args: ['a b', '', '$HOME'],
    node: realpathSync(join(root, 'node_modules/node/bin/node')),
    cli: join(clone, 'src/cli.ts'),
    // No script can have it open its debugger, not even while it starts.
    flags: ['--disable-sigusr1', '--disable-warning=ExperimentalWarning'],
  });
});

it('finds its clone through links, relative ones included', async () => {
  const clone = aClone();
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  mkdirSync(join(clone, 'elsewhere'));
  symlinkSync('../bin/holdpoint', join(clone, 'elsewhere/relative'));
  symlinkSync(join(clone, 'elsewhere/relative'), join(clone, 'elsewhere/absolute'));
  const { stdout } = await runCommand(join(clone, 'elsewhere/absolute'), []);
  expect(JSON.parse(stdout)).toMatchObject({ cli: join(clone, 'src/cli.ts') });
});

it('says what to do when the dependencies are missing', async () => {
  const clone = aClone();
  expect(await runCommand(join(clone, 'bin/holdpoint'), ['--help'])).toEqual({
    status: 1,
    stdout: '',
    stderr: `holdpoint: dependencies are missing; run npm ci in ${clone}\n`,
  });
});

/** A folder with the launcher and a command that reports how it was called. */
function aClone(): string {
  const clone = mkdtempSync(join(realpathSync(tmpdir()), 'a clone-'));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  cpSync(join(root, 'bin'), join(clone, 'bin'), { recursive: true });
  mkdirSync(join(clone, 'src'));
  writeFileSync(
    join(clone, 'src/cli.ts'),
    `const [node, cli, ...args] = process.argv;
     console.log(JSON.stringify({ node, cli, args, flags: process.execArgv }));
     process.exitCode = 3;`,
  );
  return clone;
}
