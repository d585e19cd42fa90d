import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, runCommand } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'package-'));
const modules = join(folder, 'node_modules');
const installed = join(modules, 'holdpoint');
const command = join(installed, 'bin/holdpoint');

/** Puts the tarball where npm would, with what it depends on beside it. */
beforeAll(async () => {
  const packed = await runCommand('npm', ['pack', '--json', '--pack-destination', folder], root);
  const [tarball = ''] = readdirSync(folder);
  expect({ status: packed.status, tarball }).toEqual({ status: 0, tarball: 'holdpoint-0.1.0.tgz' });
  mkdirSync(installed, { recursive: true });
  const taken = ['-xzf', join(folder, tarball), '--strip-components=1', '-C', installed];
  expect((await runCommand('tar', taken)).status).toBe(0);
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name.startsWith('.')) continue;
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the package', () => {
  it('holds what it runs and what people read, and no sources', () => {
    const names = ['CHANGELOG.md', 'LICENSE', 'README.md', 'bin', 'dist', 'docs', 'examples'];
    expect(readdirSync(installed).toSorted()).toEqual([...names, 'package.json']);
  });

  it('runs its command on the Node that stands beside it', async () => {
    expect(await runCommand(command, ['--version'], folder)).toEqual({
      status: 0,
      stdout: '0.1.0\n',
      stderr: '',
    });
  });

  it('tells the whole story: a script runs, a person releases, the log is whole', async () => {
    const { status, stdout } = await runCommand(command, ['try', '--scripted'], folder);
    expect(status).toBe(0);
    expect(stdout).toContain('Order A-1042 is refunded.');
    expect(stdout).toContain('16 events, chain intact, 0 signed');
  });

  /** What a module of the package says, which `code` has under the name `it`. */
  async function said(module: string, code: string): Promise<unknown> {
    const path = JSON.stringify(join(installed, 'dist', module));
    const program = `const it = await import(${path}); console.log(JSON.stringify(${code}))`;
    const node = join(root, 'node_modules/node/bin/node');
    const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program];
    const { stdout, stderr } = await runCommand(node, flags, folder);
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  }

  it('finds its workers, be they of tools or of governance', async () => {
    const run = '{ signal: new AbortController().signal }';
    expect(
      await said(
        'actors/tools/builtin/math-calculate.js',
        `await it.mathCalculate().run({ expression: '6 * 7' }, ${run})`,
      ),
    ).toBe('42');
    const layers = '{ guardrails: null, modify: null }';
    const text = `'x'.repeat(20_000) + 'a-secret'`;
    expect(
      await said(
        'actors/governance/policy/output-check.js',
        `(await it.createOutputCheck(${layers})('pay', ${text}, ['a-secret'], ${run}.signal)).text.slice(19_990)`,
      ),
    ).toBe('xxxxxxxxxx[redacted:credential]');
  });

  it('brings the page of the inspector', async () => {
    const read = '[...it.readInspectorPage().keys()].toSorted()';
    expect(await said('agent/inspector-page.js', read)).toEqual(
      readdirSync(join(root, 'src/ui/inspector'))
        .map((name) => (name === 'index.html' ? '/' : `/${name}`))
        .toSorted(),
    );
  });

  it('says what to do where npm has not put its Node', async () => {
    rmSync(join(modules, 'node'));
    const { status, stderr } = await runCommand(command, ['--version'], folder);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'holdpoint: dependencies are missing; install the package holdpoint again\n',
    });
  });
});
