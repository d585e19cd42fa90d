import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { hiddenFromServers } from '../../../../src/actors/tools/mcp/hidden-from-servers.ts';

const agent = realpathSync(mkdtempSync(join(tmpdir(), 'agent-')));
const other = realpathSync(mkdtempSync(join(tmpdir(), 'other-')));
writeFileSync(join(agent, 'server.mjs'), '');
writeFileSync(join(other, 'server.mjs'), '');
afterAll(() => {
  rmSync(agent, { recursive: true });
  rmSync(other, { recursive: true });
});

const view = { agentDirectory: agent, hidden: [], writable: [] };

function found(command: string, args: string[]) {
  return hiddenFromServers([{ name: 'shop', command, args }], view);
}

const message = (path: string) =>
  `shop cannot see ${path}, which the sandbox hides; copy it into the folder of the agent, or set egress.sandbox to env`;

it.each([
  ['node', ['server.mjs', '-y', '@scope/package', 'https://a.example', '--port=80', '.']],
  ['node', ['/nowhere/server.mjs']],
  ['./server.mjs', ['/usr/share']],
  [process.execPath, ['server.mjs']],
  ['no-such-program', []],
])('nothing is found in %s %j', async (command, args) => {
  expect(await found(command, args)).toEqual([]);
});

it('a program, a file, the value of an option and a path outside the folder are found', async () => {
  const path = join(other, 'server.mjs');
  expect(await found(path, [path, `--import=${path}`, '..'])).toEqual([
    { index: 0, place: ['command'], message: message(path) },
    { index: 0, place: ['args', 0], message: message(path) },
    { index: 0, place: ['args', 1], message: message(path) },
    { index: 0, place: ['args', 2], message: message(join(agent, '..')) },
  ]);
});

it('servers over HTTP are skipped', async () => {
  expect(await hiddenFromServers([{ name: 'a', args: [] }], view)).toEqual([]);
});
