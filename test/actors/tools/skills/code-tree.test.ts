import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { digestTree } from '../../../../src/actors/tools/skills/code-tree.ts';

/** A folder with these files, each with its own path as its text. */
function folder(...files: string[]): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-tree-')));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  for (const file of files) write(path, file, file);
  return path;
}

function write(path: string, file: string, text: string): void {
  mkdirSync(dirname(join(path, file)), { recursive: true });
  writeFileSync(join(path, file), text);
}

const digest = (agentDirectory: string) =>
  digestTree({
    agentDirectory,
    own: [join(agentDirectory, 'scripts')],
    apart: [join(agentDirectory, 'work')],
  });

/** Names what differs once a file has another text. */
async function changedBy(agent: string, path: string, file: string): Promise<string[]> {
  const before = await digest(agent);
  write(path, file, 'changed');
  const after = await digest(agent);
  const names = Object.keys({ ...before, ...after });
  return names.filter((name) => after[name] !== before[name]);
}

describe('the code of an agent', () => {
  it.each([
    ['a package of a package', 'node_modules/a/node_modules/b/index.js'],
    ['data of a package of a package', 'node_modules/a/node_modules/b/rates.json'],
    ['compiled Python', 'lib/helper.pyc'],
    ['a Python archive', 'lib/helper.zip'],
    ['a versioned library', 'lib/libpay.so.1'],
    ['a program, by its first bytes', 'tools/convert.dat', '#!/bin/sh\n'],
    ['JSON next to code', 'lib/rates.json', '{}', 'lib/helper.js'],
    ['files next to code that a shell may read', 'lib/common', '', 'lib/helper.sh'],
  ])('includes %s', async (_, file, content = file, beside = file) => {
    const agent = folder('scripts/pay.js', file, beside);
    write(agent, file, content);
    expect(await changedBy(agent, agent, file)).toEqual([file]);
  });

  it('excludes data: JSON, texts and tables in folders without code', async () => {
    const data = ['data/orders.json', 'data/plan', 'notes.txt', 'lib/table.csv'];
    const agent = folder('scripts/pay.js', 'lib/helper.js', ...data);
    expect(Object.keys(await digest(agent)).toSorted()).toEqual([
      'lib/helper.js',
      'scripts/pay.js',
    ]);
  });

  it('includes an executable without an extension', async () => {
    const agent = folder('scripts/pay.js', 'tools/convert');
    chmodSync(join(agent, 'tools/convert'), 0o755);
    expect(await changedBy(agent, agent, 'tools/convert')).toEqual(['tools/convert']);
  });

  it('includes a file that was changed again at once, with the same length', async () => {
    const agent = folder('scripts/pay.js');
    const seen = new Set<string | undefined>();
    for (let at = 0; at < 20; at += 1) {
      write(agent, 'scripts/pay.js', `pay(${at % 10}${at > 9 ? 'a' : 'b'})`);
      seen.add((await digest(agent))['scripts/pay.js']);
    }
    expect(seen.size).toBe(20);
  });

  it('is the same at every place, including links to outside files', async () => {
    const digests = ['a', 'b/c/d'].map(async (depth) => {
      const top = folder('shared/lib/money.js', 'shared/lib/deep/rates.json', 'one/go.py');
      write(top, 'one/near.py', 'near');
      const agent = join(top, depth, 'agent');
      write(agent, 'scripts/pay.js', 'pay');
      symlinkSync(join(top, 'shared/lib'), join(agent, 'scripts/lib'));
      symlinkSync(join(top, 'shared'), join(agent, 'all'));
      symlinkSync(join(top, 'one/go.py'), join(agent, 'scripts/go.py'));
      return digest(agent);
    });
    const [one, other] = await Promise.all(digests);
    expect(one).toEqual(other);
    expect(Object.keys(one ?? {}).toSorted()).toEqual([
      'all',
      'all/lib/deep/rates.json',
      'all/lib/money.js',
      'scripts/go.py',
      'scripts/go.py/go.py',
      'scripts/go.py/near.py',
      'scripts/lib',
      'scripts/pay.js',
    ]);
  });

  it('includes files next to linked code, which that code may load', async () => {
    const agent = folder('scripts/pay.js');
    const shared = folder('lib/money.js', 'lib/amount.js');
    symlinkSync(join(shared, 'lib/money.js'), join(agent, 'scripts/money.js'));
    expect(await changedBy(agent, shared, 'lib/amount.js')).toEqual(['scripts/money.js/amount.js']);
  });

  it('includes a linked package', async () => {
    const file = 'node_modules/.pnpm/c@1/node_modules/c/data.json';
    const agent = folder('scripts/pay.js', file);
    symlinkSync('.pnpm/c@1/node_modules/c', join(agent, 'node_modules/c'));
    expect(await changedBy(agent, agent, file)).toEqual([file]);
  });

  it('includes a linked folder outside', async () => {
    const agent = folder('scripts/pay.js');
    const shared = folder('lib/rates.json');
    symlinkSync(join(shared, 'lib'), join(agent, 'scripts/shared'));
    expect(await changedBy(agent, shared, 'lib/rates.json')).toHaveLength(1);
  });

  it('excludes files that scripts write, also through a link', async () => {
    const agent = folder('scripts/pay.js', 'work/tool.js');
    symlinkSync('../work', join(agent, 'scripts/out'));
    expect(await changedBy(agent, agent, 'work/tool.js')).toEqual([]);
  });

  it('is read completely with circular links', async () => {
    const agent = folder('scripts/pay.js', 'data/plan.txt');
    symlinkSync('..', join(agent, 'scripts/up'));
    symlinkSync('../scripts', join(agent, 'data/scripts'));
    expect(Object.keys(await digest(agent)).toSorted()).toEqual([
      'data/scripts',
      'scripts/pay.js',
      'scripts/up',
    ]);
  });
});
