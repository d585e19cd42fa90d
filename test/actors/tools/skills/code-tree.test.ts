import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
  return Object.keys(after).filter((name) => after[name] !== before[name]);
}

describe('what the programs of an agent are made of', () => {
  it.each([
    ['a package of a package', 'node_modules/a/node_modules/b/index.js'],
    ['data of a package of a package', 'node_modules/a/node_modules/b/rates.json'],
    ['compiled Python', 'lib/helper.pyc'],
  ])('is %s', async (_, file) => {
    const agent = folder('scripts/pay.js', file);
    expect(await changedBy(agent, agent, file)).toEqual([file]);
  });

  it('is a package that a link leads to', async () => {
    const file = 'node_modules/.pnpm/c@1/node_modules/c/data.json';
    const agent = folder('scripts/pay.js', file);
    symlinkSync('.pnpm/c@1/node_modules/c', join(agent, 'node_modules/c'));
    expect(await changedBy(agent, agent, file)).toEqual([file]);
  });

  it('is a folder outside that a link leads to', async () => {
    const agent = folder('scripts/pay.js');
    const shared = folder('lib/rates.json');
    symlinkSync(join(shared, 'lib'), join(agent, 'scripts/shared'));
    expect(await changedBy(agent, shared, 'lib/rates.json')).toHaveLength(1);
  });

  it('is none of what scripts write, also through a link', async () => {
    const agent = folder('scripts/pay.js', 'work/tool.js');
    symlinkSync('../work', join(agent, 'scripts/out'));
    expect(await changedBy(agent, agent, 'work/tool.js')).toEqual([]);
  });

  it('is found where links lead round in circles', async () => {
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
