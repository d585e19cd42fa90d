import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isWithoutBwrap, needsBwrap } from '../actors/tools/sandbox/needs-bwrap.ts';
import { root, runCommand } from './run-command.ts';

const pinned = 'node_modules/node';

it('the command of a clone runs on the pinned Node, with its exact arguments', async () => {
  const clone = aClone();
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  const { status, stdout } = await runCommand(join(clone, 'bin/holdpoint'), ['a b', '', '$HOME']);
  expect({ status, ...(JSON.parse(stdout) as object) }).toEqual({
    status: 3,
    called: join(clone, 'bin/holdpoint'),
    args: ['a b', '', '$HOME'],
    node: realpathSync(join(root, pinned, 'bin/node')),
    cli: join(clone, 'src/cli.ts'),
    // No script can have it open its debugger, not even while it starts.
    flags: ['--disable-sigusr1', '--disable-warning=ExperimentalWarning'],
    cache: expect.any(String),
  });
});

it("the command runs on the machine's Node in a clone that was installed without scripts", async () => {
  const clone = aClone();
  mkdirSync(join(clone, 'node_modules'));
  const { stdout } = await runCommand(join(clone, 'bin/holdpoint'), []);
  expect(JSON.parse(stdout)).toMatchObject({
    node: realpathSync(join(root, pinned, 'bin/node')),
    cli: join(clone, 'src/cli.ts'),
  });
});

it('the command finds its clone through links, including relative ones', async () => {
  const clone = aClone();
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  mkdirSync(join(clone, 'elsewhere'));
  symlinkSync('../bin/holdpoint', join(clone, 'elsewhere/relative'));
  symlinkSync(join(clone, 'elsewhere/relative'), join(clone, 'elsewhere/absolute'));
  const { stdout } = await runCommand(join(clone, 'elsewhere/absolute'), []);
  expect(JSON.parse(stdout)).toMatchObject({ cli: join(clone, 'src/cli.ts') });
});

it('the remedy is printed when the dependencies are missing', async () => {
  const clone = aClone();
  expect(await runCommand(join(clone, 'bin/holdpoint'), ['--help'])).toEqual({
    status: 1,
    stdout: '',
    stderr: `holdpoint: dependencies are missing; run npm ci in ${clone}\n`,
  });
});

it.each([
  ['by a path from the current folder', ['bin/holdpoint'], 'bin/holdpoint'],
  ['by its name in its own folder', ['sh', '-c', 'cd bin && sh holdpoint'], './holdpoint'],
  ['by its full path', ['sh', '-c', '"$PWD/bin/holdpoint"'], '<clone>/bin/holdpoint'],
  ['through the search path', ['sh', '-c', 'PATH="$PWD/bin:$PATH" holdpoint'], 'holdpoint'],
  ['by npx', ['sh', '-c', 'npm_command=exec "$PWD/node_modules/.bin/holdpoint"'], 'npx holdpoint'],
])('the name of the call is printed: %s', async (_, [program = '', ...args], called) => {
  const clone = aClone();
  mkdirSync(join(clone, 'node_modules/.bin'), { recursive: true });
  symlinkSync(join(root, pinned), join(clone, pinned));
  symlinkSync('../../bin/holdpoint', join(clone, 'node_modules/.bin/holdpoint'));
  const { stdout } = await runCommand(program, args, clone);
  const said = (JSON.parse(stdout) as { called: string }).called;
  expect(said.replace(clone, '<clone>')).toBe(called);
});

describe('the command in a package', () => {
  it("runs the JavaScript on the machine's Node, with any Node that npm installed next to it", async () => {
    const { installed, run } = aPackage();
    mkdirSync(join(installed, '../node/bin'), { recursive: true });
    writeFileSync(join(installed, '../node/bin/node'), '#!/bin/sh\nexit 9\n', { mode: 0o755 });
    const { stdout } = await run(dirname(process.execPath));
    expect(JSON.parse(stdout)).toMatchObject({
      cli: join(installed, 'dist/cli.js'),
      node: realpathSync(process.execPath),
    });
  });

  it.each([
    [['hook', 'codex', '--dir', 'a b'], 'hook.cjs'],
    [['hook'], 'hook.cjs'],
    [['hook', 'codex', '--help'], 'cli.js'],
    [['hook', '-h'], 'cli.js'],
    [['hooks'], 'cli.js'],
  ])('runs %j from the file %s', async (words, file) => {
    const { installed, run } = aPackage();
    const { stdout } = await run(dirname(process.execPath), words);
    expect(JSON.parse(stdout)).toMatchObject({ cli: join(installed, 'dist', file), args: words });
  });

  it.each(['18.0.0', '20.20.2', '23.11.1'])('names the required Node on %s', async (version) => {
    const { run, machine } = aPackage();
    writeFileSync(join(machine, 'node'), `#!/bin/sh\necho v${version}\n`, { mode: 0o755 });
    expect(await run(machine)).toEqual({
      ...{ status: 1, stdout: '' },
      stderr: `holdpoint needs Node 24 or newer; this is ${version}\n`,
    });
  });

  it('reports a missing Node', async () => {
    const { run, machine } = aPackage();
    expect(await run(machine)).toEqual({
      ...{ status: 1, stdout: '' },
      stderr:
        'holdpoint needs Node 24 or newer, and there is no node in PATH; install one from https://nodejs.org\n',
    });
  });

  it('requires the same Node as npm', () => {
    const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      engines: object;
    };
    expect(engines).toEqual({ node: '>=24' });
  });
});

it('sources run when they exist, and never the build next to them', async () => {
  const clone = aClone();
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  cpSync(join(clone, 'src/cli.ts'), join(clone, 'dist/cli.js'));
  const { stdout } = await runCommand(join(clone, 'bin/holdpoint'), []);
  expect(JSON.parse(stdout)).toMatchObject({ cli: join(clone, 'src/cli.ts') });
});

describe.skipIf(isWithoutBwrap)('a command in a read-only folder', () => {
  needsBwrap();

  it('stores its compiled code with its user', async () => {
    const clone = aClone();
    symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
    const unset = ['--unsetenv', 'NODE_COMPILE_CACHE'];
    const command = [join(clone, 'bin/holdpoint')];
    const cached = async (...flags: string[]) => {
      const { stdout } = await runCommand('bwrap', [...flags, ...unset, ...command]);
      return (JSON.parse(stdout) as { cache: string }).cache;
    };
    expect(await cached('--bind', '/', '/')).toBe(join(clone, 'node_modules/.cache/holdpoint'));
    const locked = ['--ro-bind', '/', '/', '--setenv', 'HOME', '/home/ann'];
    expect(await cached(...locked, '--unsetenv', 'XDG_CACHE_HOME')).toBe(
      '/home/ann/.cache/holdpoint',
    );
    expect(await cached(...locked, '--setenv', 'XDG_CACHE_HOME', '/cache')).toBe(
      '/cache/holdpoint',
    );
  });
});

/** An installed package, and a way to run its command with one folder of programs next to those that a shell needs. */
function aPackage() {
  const outer = mkdtempSync(join(realpathSync(tmpdir()), 'outer-'));
  onTestFinished(() => rmSync(outer, { recursive: true }));
  const installed = join(outer, 'node_modules/holdpoint');
  const clone = aClone();
  cpSync(join(clone, 'bin'), join(installed, 'bin'), { recursive: true });
  for (const file of ['cli.js', 'hook.cjs']) {
    cpSync(join(clone, 'src/cli.ts'), join(installed, 'dist', file));
  }
  const [machine, tools] = [join(outer, 'machine'), join(outer, 'tools')];
  for (const folder of [machine, tools]) mkdirSync(folder);
  for (const tool of ['sh', 'readlink', 'env']) {
    symlinkSync(join('/usr/bin', tool), join(tools, tool));
  }
  const command = join(installed, 'bin/holdpoint');
  const run = (programs: string, words: string[] = []) =>
    runCommand('/usr/bin/env', [`PATH=${programs}:${tools}`, command, ...words]);
  return { installed, machine, run };
}

/** A folder with the launcher and a command that reports how it was called. */
function aClone(): string {
  const clone = mkdtempSync(join(realpathSync(tmpdir()), 'a clone-'));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  cpSync(join(root, 'bin'), join(clone, 'bin'), { recursive: true });
  mkdirSync(join(clone, 'src'));
  writeFileSync(
    join(clone, 'src/cli.ts'),
    `const [node, cli, ...args] = process.argv;
     console.log(JSON.stringify({ node, cli, args, flags: process.execArgv, called: process.env.SERVICE_COMMAND, cache: process.env.NODE_COMPILE_CACHE }));
     process.exitCode = 3;`,
  );
  return clone;
}
