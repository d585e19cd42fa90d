import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/actors/config/config.ts';
import { backupAgent } from '../../src/agent/backup-agent.ts';
import { checkBackupFile } from '../../src/agent/restore-agent.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { startInFolder } from '../helpers/test-agent.ts';

it('leaves out what a tool replaces by a link out of the folder meanwhile', async () => {
  const folder = new AgentFolder({});
  const elsewhere = new AgentFolder({});
  onTestFinished(() => {
    folder.remove();
    elsewhere.remove();
  });
  const directory = realpathSync(folder.path);
  const agent = await startInFolder(folder);
  await agent.send('greeting', [{ say: 'hello' }]);
  await agent.stop();
  for (const name of ['notes', 'work/notes', 'kept']) {
    mkdirSync(join(directory, 'work'), { recursive: true });
    mkdirSync(join(elsewhere.path, 'work'), { recursive: true });
    writeFileSync(join(directory, name), 'mine');
    writeFileSync(join(elsewhere.path, name), 'secret');
  }
  const loaded = loadConfig(directory, {});
  if (!loaded.ok) throw new Error('the configuration is invalid');
  const path = join(elsewhere.path, 'backup');

  const making = backupAgent({ directory, config: loaded.config, path, now: 0 });
  rmSync(join(directory, 'notes'));
  symlinkSync(join(elsewhere.path, 'notes'), join(directory, 'notes'));
  renameSync(join(directory, 'work'), join(directory, 'moved'));
  symlinkSync(join(elsewhere.path, 'work'), join(directory, 'work'));
  const { leftOut } = await making;

  expect(leftOut.toSorted()).toEqual(['notes', 'work/notes']);
  const { files } = await checkBackupFile(path);
  expect(files.filter((file) => /notes|kept/.test(file))).toEqual(['agent/kept']);
});
