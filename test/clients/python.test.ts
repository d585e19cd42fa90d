import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { canonicalJson } from '../../packages/client/canonical-json.ts';
import { clone, fencesOf, readPage } from '../docs/fences.ts';
import { decide, startGate } from '../packages/client/a-gate.ts';

const run = promisify(execFile);
const folder = join(clone, 'clients/python');

/** Runs Python where the package is. */
function python(args: string[], env: NodeJS.ProcessEnv = {}) {
  return run('python3', args, {
    cwd: folder,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONWARNINGS: 'error', ...env },
  });
}

/** JSON texts with their canonical form, and many numbers among them. */
function canonicalCases(): [text: string, canonical: string][] {
  const values = fc.sample(fc.oneof(fc.jsonValue(), fc.double()), { numRuns: 1_000, seed: 1 });
  const fixed = [
    0.1,
    -0,
    1e-7,
    1e-6,
    123e-8,
    5e-324,
    4.5e15 + 0.5,
    { '€': 1, '😀': 2, '\ufb33': 3 },
  ];
  return [...values, ...fixed].flatMap((value) => {
    try {
      canonicalJson(value, 'value');
    } catch {
      return [];
    }
    return [[JSON.stringify(value), canonicalize(value) ?? '']];
  });
}

describe('the client for Python', () => {
  it('passes its tests against a gate', async () => {
    const agent = await startGate();
    const { stderr } = await python(['-m', 'unittest', 'tests.test_holdpoint'], {
      HOLDPOINT_URL: agent.url,
      HOLDPOINT_CANONICAL: JSON.stringify(canonicalCases()),
    });
    expect(stderr).toMatch(/^Ran \d{2} tests in [\d.]+s\n\nOK$/m);
  });

  it.each([
    ['approve', 'ran rm -rf build\n'],
    ['reject', 'Bash did not run: defer: rejected by unknown\n'],
  ])('asks for the first call as its page shows it: %s', async (decision, stdout) => {
    const agent = await startGate();
    const [first = ''] = fencesOf(readPage('clients/python/README.md')).map(({ text }) => text);
    expect(first.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(10);
    const asked = python(['-c', first.replace('http://localhost:8080', agent.url)]);
    await decide(agent, { decision });
    expect((await asked).stdout).toBe(stdout);
  });

  it('holds and reports as its page shows it', async () => {
    const agent = await startGate();
    const [first = '', second = ''] = fencesOf(readPage('clients/python/README.md')).map(
      ({ text }) => text,
    );
    const program = `${first.split('\n').slice(0, 3).join('\n')}\n${second}`;
    const asked = python(['-c', program.replace('http://localhost:8080', agent.url)]);
    await decide(agent, { decision: 'approve', note: 'it is old' });
    expect((await asked).stdout).toBe("approved {'command': 'rm -rf build'} it is old unknown\n");
  });

  it('is a wheel and a source distribution, which install without a network and without other packages', async () => {
    const built = mkdtempSync(join(tmpdir(), 'wheel-'));
    onTestFinished(() => rmSync(built, { recursive: true }));
    const { version } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'));
    const build =
      'import sys, build_wheel as b; print(b.build_wheel(sys.argv[1]), b.build_sdist(sys.argv[1]))';
    const { stdout } = await python(['-c', build, built]);
    expect(stdout).toBe(`holdpoint-${version}-py3-none-any.whl holdpoint-${version}.tar.gz\n`);
    await run('python3', ['-m', 'venv', join(built, 'venv')]);
    const use = `import holdpoint, holdpoint.testing
print(holdpoint.__file__, holdpoint.__version__, holdpoint.testing.TestGate().hold("a", {}).status)`;
    const installed: Record<string, string>[] = [];
    for (const name of stdout.trim().split(' ')) {
      const target = join(built, `from-${name}`);
      const pip = ['-m', 'pip', 'install', '--no-index', '--no-cache-dir', '--no-compile'];
      await run(join(built, 'venv/bin/python'), [...pip, '--target', target, join(built, name)]);
      const program = `import sys; sys.path.insert(0, ${JSON.stringify(target)})\n${use}`;
      const used = await run(join(built, 'venv/bin/python'), ['-I', '-B', '-c', program]);
      expect(used.stdout).toBe(`${join(target, 'holdpoint/__init__.py')} ${version} allowed\n`);
      installed.push(filesIn(target));
    }
    expect(Object.keys(installed[0] ?? {})).toEqual([
      ...['METADATA', 'WHEEL', 'licenses/LICENSE'].map(
        (name) => `holdpoint-${version}.dist-info/${name}`,
      ),
      ...['__init__', 'async_gate', 'canonical_json', 'decision', 'errors', 'gate'].map(
        (name) => `holdpoint/${name}.py`,
      ),
      'holdpoint/py.typed',
      ...['steps', 'testing', 'transport', 'verify_receipt'].map((name) => `holdpoint/${name}.py`),
    ]);
    expect(installed[1]).toEqual(installed[0]);
  });
});

/** Returns the files of a folder by their paths, without those in which pip writes what it installed. */
function filesIn(folder: string): Record<string, string> {
  const paths = globSync('**/*.{py,typed}', { cwd: folder }).concat(
    globSync('*.dist-info/{METADATA,WHEEL,licenses/LICENSE}', { cwd: folder }),
  );
  return Object.fromEntries(
    paths.toSorted().map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  );
}
