import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { loadConfig } from '../../../src/actors/config/config.ts';
import { backupAgent } from '../../../src/agent/backup/backup-agent.ts';
import { readBackup } from '../../../src/agent/backup/read-backup.ts';
import { checkBackupFile } from '../../../src/agent/backup/restore-agent.ts';
import { AgentFolder } from '../../helpers/agent-folder.ts';
import { startInFolder } from '../../helpers/test-agent.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

/** The folder and the settings of an agent with one task. */
async function stoppedAgent() {
  const folder = new AgentFolder({});
  onTestFinished(() => folder.remove());
  const directory = realpathSync(folder.path);
  const agent = await startInFolder(folder);
  await agent.send('greeting', [{ say: 'hello' }]);
  await agent.stop();
  const loaded = loadConfig(directory, {});
  if (!loaded.ok) throw new Error('the configuration is invalid');
  return { directory, config: loaded.config };
}

it('a backup omits a file that a tool replaces by an outside link during it', async () => {
  const { directory, config } = await stoppedAgent();
  const elsewhere = new AgentFolder({});
  onTestFinished(() => elsewhere.remove());
  for (const name of ['notes', 'work/notes', 'kept']) {
    mkdirSync(join(directory, 'work'), { recursive: true });
    mkdirSync(join(elsewhere.path, 'work'), { recursive: true });
    writeFileSync(join(directory, name), 'mine');
    writeFileSync(join(elsewhere.path, name), 'secret');
  }
  const path = join(elsewhere.path, 'backup');

  const making = backupAgent({ directory, config, path, signer: null, now: 0 });
  rmSync(join(directory, 'notes'));
  symlinkSync(join(elsewhere.path, 'notes'), join(directory, 'notes'));
  renameSync(join(directory, 'work'), join(directory, 'moved'));
  symlinkSync(join(elsewhere.path, 'work'), join(directory, 'work'));
  const { leftOut } = await making;

  expect(leftOut.toSorted()).toEqual(['notes', 'work/notes']);
  const { files } = await checkBackupFile(path);
  expect(files.filter((file) => /notes|kept/.test(file))).toEqual(['agent/kept']);
});

it('a backup copies the store into a private folder of the agent, since others may write to its own', async () => {
  const { directory, config } = await stoppedAgent();
  const into = temporaryFolder();
  const drafts = () =>
    readdirSync(join(directory, '.service')).filter((name) => name.startsWith('backing-up-'));

  const making = backupAgent({
    ...{ directory, config, path: join(into, 'backup') },
    signer: null,
    now: Date.now(),
  });
  const [draft] = drafts();
  const modes = [
    statSync(join(directory, '.service', draft!)).mode & 0o777,
    statSync(join(directory, '.service', draft!, 'tasks.db')).mode & 0o777,
  ];
  await making;

  expect(modes).toEqual([0o700, 0o600]);
  expect([drafts(), readdirSync(into)]).toEqual([[], ['backup']]);
});

it('a backup names a large file that shrinks during the read, and restores the read part', async () => {
  const { directory, config } = await stoppedAgent();
  const large = join(directory, 'large.log');
  writeFileSync(large, 'first lines\n');
  truncateSync(large, 70 * 1024 * 1024);
  chmodSync(large, 0o444);
  const path = join(temporaryFolder(), 'backup');
  const handle = await open(large);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { stat } = prototype;
  let looks = 0;
  const spy = vi.spyOn(prototype, 'stat').mockImplementation(async function (this: FileHandle) {
    const found = await stat.call(this);
    if (found!.size > 64 * 1024 * 1024 && ++looks === 2) truncateSync(large, 12);
    return found as never;
  });
  onTestFinished(() => spy.mockRestore());

  const made = await backupAgent({ directory, config, path, signer: null, now: Date.now() });
  const into = temporaryFolder();
  const trust = { keys: { keys: [] }, acceptsUnverified: true };
  await readBackup(path, { into, trust, accept: () => undefined });

  expect(made.changed).toEqual(['large.log']);
  const restored = join(into, 'agent/large.log');
  expect(readFileSync(restored, 'utf8')).toBe('first lines\n');
  expect(statSync(restored).mode & 0o777).toBe(0o444);
});
