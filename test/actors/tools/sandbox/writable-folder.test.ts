import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writableFolder } from '../../../../src/actors/tools/sandbox/sandbox.ts';
import { agentFolder } from '../skills/agent-folder.ts';

/** Judges a folder of an agent that has state, a store of its own, scripts and links. */
async function judged(name: string): Promise<unknown> {
  const agentDirectory = agentFolder({
    '.service/runtime.token': '',
    'service.yaml': '',
    'scripts/go.sh': '',
    'state/tasks.db': '',
    'data/orders.csv': '',
    'mixed/.env': '',
    'file.txt': '',
  });
  symlinkSync('.service', join(agentDirectory, 'state-link'));
  symlinkSync('/tmp', join(agentDirectory, 'out'));
  symlinkSync('nowhere', join(agentDirectory, 'dangling'));
  symlinkSync('data', join(agentDirectory, 'data-link'));
  const guarded = ['.service', 'service.yaml', 'scripts', 'state/tasks.db'];
  const paths = guarded.map((path) => join(agentDirectory, path));
  const found = await writableFolder(name, { agentDirectory, guarded: paths });
  if ('mistake' in found) return found.mistake;
  return [found.path.slice(agentDirectory.length + 1), found.warning];
}

describe('writableFolder', () => {
  it.each([
    ['data', 'data'],
    ['./data/', 'data'],
    ['data-link', 'data'],
    ['work', 'work'],
    ['var/work/today', 'var/work/today'],
    ['data/../work', 'work'],
  ])('accepts %s', async (name, path) => {
    expect(await judged(name)).toEqual([path, null]);
  });

  it.each([
    ['/tmp', 'write this relative to the folder of the agent'],
    ['.', 'this is the whole folder of the agent; name one in it, such as work'],
    ['data/..', 'this is the whole folder of the agent; name one in it, such as work'],
    ['..', 'this leads out of the folder of the agent; name one in it, such as work'],
    ['out', 'this leads out of the folder of the agent; name one in it, such as work'],
    ['out/x', 'this leads out of the folder of the agent; name one in it, such as work'],
    ['.service', 'this is named like a secret, which scripts may not see; name another'],
    ['.service/work', 'this is named like a secret, which scripts may not see; name another'],
    ['state-link', 'this is named like a secret, which scripts may not see; name another'],
    ['.env', 'this is named like a secret, which scripts may not see; name another'],
    ['secrets', 'this is named like a secret, which scripts may not see; name another'],
    ['scripts', 'scripts may not write scripts; name a folder apart from it'],
    ['scripts/data', 'scripts may not write scripts; name a folder apart from it'],
    ['state', 'scripts may not write state/tasks.db; name a folder apart from it'],
    ['dangling', 'this leads to no folder; correct the link or the name'],
    ['file.txt', 'this leads to no folder; correct the link or the name'],
    ['file.txt/x', 'this leads to no folder; correct the link or the name'],
  ])('refuses %s', async (name, mistake) => {
    expect(await judged(name)).toBe(mistake);
  });

  it('warns of content that is named like a secret', async () => {
    expect(await judged('mixed')).toEqual([
      'mixed',
      'scripts may read and write all of it, .env too, which is named like a secret; keep that elsewhere',
    ]);
  });
});
