import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  makeRunFolder,
  runSocket,
  sweepRunFolders,
} from '../../../src/actors/process/run-folder.ts';
import { agentFolder } from '../tools/skills/agent-folder.ts';

let parent: string;

beforeEach(() => {
  parent = agentFolder({ 'elsewhere/kept': '' });
  vi.stubEnv('TMPDIR', parent);
});

afterEach(() => vi.unstubAllEnvs());

const anHour = 3_600_000;

/** Looks around as if an hour had passed. */
function sweepLater(): Promise<void> {
  return sweepRunFolders(Date.now() + anHour);
}

async function listenIn(folder: string) {
  const server = createServer((socket) => socket.end()).listen(join(folder, runSocket));
  await once(server, 'listening');
  return server;
}

describe('sweepRunFolders', () => {
  it('removes the folder of a killed daemon, with its content', async () => {
    const folder = await makeRunFolder();
    mkdirSync(join(folder, 'script-a'));
    writeFileSync(join(folder, 'script-a/customers.csv'), 'ann');
    // A socket file whose listener has gone.
    const server = await listenIn(folder);
    server.close();
    await once(server, 'close');
    writeFileSync(join(folder, runSocket), '');
    await sweepLater();
    expect(existsSync(folder)).toBe(false);
  });

  it('keeps the folder of a running and of a starting daemon', async () => {
    const living = await makeRunFolder();
    const server = await listenIn(living);
    onTestFinished(() => void server.close());
    utimesSync(living, 0, 0);
    const starting = await makeRunFolder();
    await sweepRunFolders();
    expect([living, starting].map((folder) => existsSync(folder))).toEqual([true, true]);
    await sweepLater();
    expect([living, starting].map((folder) => existsSync(folder))).toEqual([true, false]);
  });

  it('keeps links and other folders, with any name', async () => {
    symlinkSync(join(parent, 'elsewhere'), join(parent, 'holdpoint-123-abcdef'));
    for (const name of ['holdpoint-refunds', 'holdpoint-12-my-agent', 'holdpoint-x-abcdef']) {
      mkdirSync(join(parent, name));
    }
    const before = readdirSync(parent).toSorted();
    await sweepLater();
    expect(readdirSync(parent).toSorted()).toEqual(before);
    expect(existsSync(join(parent, 'elsewhere/kept'))).toBe(true);
  });

  it.skipIf(process.getuid?.() !== 0)('keeps the folders of other users', async () => {
    const folder = await makeRunFolder();
    chownSync(folder, 65_534, 65_534);
    await sweepLater();
    expect(existsSync(folder)).toBe(true);
  });

  it('reports nothing when there is no temporary folder', async () => {
    vi.stubEnv('TMPDIR', join(parent, 'none'));
    await expect(sweepRunFolders()).resolves.toBeUndefined();
  });
});
