import { mkdirSync, realpathSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openAuditLog } from '../../../src/dashboard/reading/audit-files.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

/** An agent with a log, and a file of another user. */
function agentWithLog() {
  const directory = realpathSync(temporaryFolder());
  const elsewhere = realpathSync(temporaryFolder());
  mkdirSync(join(directory, '.service'));
  writeFileSync(join(directory, 'service.yaml'), 'agent_id: bad\n');
  writeFileSync(join(directory, '.service/audit.ndjson'), '{"event":"own"}\n');
  writeFileSync(join(elsewhere, 'audit.ndjson'), '{"event":"of somebody else"}\n');
  return { directory, elsewhere };
}

/** Opens as the system does, after what another user does right before. */
function openAfter(swap: () => void): typeof open {
  return (...given) => {
    swap();
    return open(...given);
  };
}

it('the log of an agent is opened once, and that file is read when another replaces it', async () => {
  const { directory, elsewhere } = agentWithLog();
  const log = await openAuditLog(directory, {});
  const path = join(directory, '.service/audit.ndjson');
  renameSync(path, `${path}.old`);
  symlinkSync(join(elsewhere, 'audit.ndjson'), path);
  expect(await log.files[0]?.handle.readFile('utf8')).toBe('{"event":"own"}\n');
  await log.close();
});

it('a link that replaces the log before it is opened is not followed', async () => {
  const { directory, elsewhere } = agentWithLog();
  const path = join(directory, '.service/audit.ndjson');
  const swapped = openAfter(() => {
    renameSync(path, `${path}.old`);
    symlinkSync(join(elsewhere, 'audit.ndjson'), path);
  });
  await expect(openAuditLog(directory, {}, swapped)).rejects.toMatchObject({ status: 409 });
});

it('a link that replaces a parent folder is not followed', async () => {
  const { directory, elsewhere } = agentWithLog();
  const folder = join(directory, '.service');
  const swapped = openAfter(() => {
    renameSync(folder, `${folder}.old`);
    symlinkSync(elsewhere, folder);
  });
  await expect(openAuditLog(directory, {}, swapped)).rejects.toMatchObject({ status: 409 });
});
