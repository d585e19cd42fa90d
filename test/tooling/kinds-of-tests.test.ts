import { globSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/test-system.ts';
import { kindsOfTests } from './kinds-of-tests.ts';
import { root, runCommand } from './run-command.ts';

function aRepository(files: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

it('tests are sorted by what they and their helpers reach, without types', () => {
  const folder = aRepository({
    'src/door.ts': "import { createServer } from 'node:http';\nexport const door = createServer();",
    'src/tool.ts': "import { spawn } from 'node:child_process';\nexport const tool = spawn;",
    'src/both.ts': "export * from './door.ts';\nimport './tool.ts';",
    'scripts/kill.ts': "import { fork } from 'node:child_process';",
    'test/helpers/daemon.ts': "import {\n  spawn,\n} from 'node:child_process';",
    'test/adds.test.ts': "import { isIP } from './helpers/sum.ts';",
    'test/helpers/sum.ts': "import type { Server } from 'node:http';\nimport { it } from 'vitest';",
    'test/connects.test.ts': "import { connect } from 'node:net';",
    'test/door.test.ts': "import { door } from '../src/both.ts';",
    'test/listens.test.ts': "import Koa from 'koa';\nnew Koa().listen(0);",
    'test/tool.test.ts': "import { tool } from '../src/tool.ts';",
    'test/deep/daemon.test.ts': "import '../helpers/daemon.ts';",
    'test/kills.test.ts': "import '../scripts/kill.ts';",
    'test/page.test.ts': "import { chromium } from 'playwright-core';",
    'test/starts.test.ts': "import './helpers/workspace-agents.ts';",
    'test/helpers/workspace-agents.ts': '',
  });
  expect(kindsOfTests(folder)).toEqual({
    pure: ['test/adds.test.ts'],
    sockets: [
      'test/connects.test.ts',
      'test/door.test.ts',
      'test/listens.test.ts',
      'test/tool.test.ts',
    ],
    processes: [
      'test/deep/daemon.test.ts',
      'test/kills.test.ts',
      'test/page.test.ts',
      'test/starts.test.ts',
    ],
  });
});

it('a long test is a part of a suite that the usual one samples', () => {
  const folder = aRepository({
    'test/usual.test.ts': '',
    'test/kill.long.test.ts': "import { fork } from 'node:child_process';",
    'test/asks.test.ts': "import fc from 'fast-check';",
    'test/walks.test.ts': "import './helpers/walk.ts';",
    'test/helpers/walk.ts': "import './runs.ts';",
    'test/helpers/runs.ts': '',
  });
  expect(kindsOfTests(folder)).toEqual({
    pure: ['test/asks.test.ts', 'test/usual.test.ts', 'test/walks.test.ts'],
    sockets: [],
    processes: [],
  });
  expect(kindsOfTests(folder, 'long')).toEqual({
    pure: ['test/asks.test.ts', 'test/walks.test.ts'],
    sockets: [],
    processes: ['test/kill.long.test.ts'],
  });
});

it('every test of this repository is in one project', () => {
  const projects = Object.values(kindsOfTests(root));
  for (const tests of projects) expect(tests.length).toBeGreaterThan(20);
  const long = Object.values(kindsOfTests(root, 'long')).flat();
  const all = [...projects.flat(), ...long.filter((path) => path.endsWith('.long.test.ts'))];
  expect(all.toSorted()).toEqual(globSync('test/**/*.test.ts', { cwd: root }).toSorted());
});

/** Runs one file as a test of `pure` that shares its worker, and returns what Vitest says. */
async function runPure(text: string): Promise<string> {
  const folder = aRepository({ 'package.json': '{"type":"module"}', 'sly.test.ts': text });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const setup = ['pure-tripwire.ts', 'leave-as-found.ts'].map((name) =>
    join(root, 'test/tooling', name),
  );
  const config = { test: { isolate: false, setupFiles: setup } };
  writeFileSync(join(folder, 'vitest.config.ts'), `export default ${JSON.stringify(config)};`);
  const { status, stdout, stderr } = await runCommand('vitest', ['run'], folder);
  expect(status).toBe(1);
  return stdout + stderr;
}

it('a pure test that listens, connects, opens a socket or starts a process fails, and no other does', async () => {
  const said = await runPure(`
    import { it } from 'vitest';
    const use = async (name) => process.getBuiltinModule(name);
    it('adds', () => undefined);
    it('hears', async () => {
      const server = (await use('net')).createServer();
      await new Promise((done) => server.listen(0, done));
      server.close();
    });
    it('calls', async () => (await use('net')).connect(1, '127.0.0.1').on('error', () => {}));
    it('shouts', async () => (await use('dgram')).createSocket('udp4').close());
    it('begets', async () => (await use('child_process')).spawn('true'));`);
  expect(
    [...said.matchAll(/Error: (a test of the project "pure" [a-z ]+):/g)].map(([, e]) => e),
  ).toEqual([
    'a test of the project "pure" listens',
    'a test of the project "pure" opens a connection',
    'a test of the project "pure" opens a socket',
    'a test of the project "pure" starts a process',
  ]);
  expect(said).toMatch(/4 failed \| 1 passed/);
});

it.each([
  ['a variable of the environment', "process.env.LEFT = 'behind';"],
  ['a listener', "process.on('SIGHUP', () => {});"],
  ['fetch', 'globalThis.fetch = () => {};'],
])('a file that leaves %s changed fails', async (_, change) => {
  const said = await runPure(`import { it } from 'vitest';\nit('changes', () => { ${change} });`);
  expect(said).toContain('a file leaves its process as it found it');
});
