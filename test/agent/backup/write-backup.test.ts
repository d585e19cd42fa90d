import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type BackupEntry, writeBackup } from '../../../src/agent/backup/write-backup.ts';

const head = {
  agent_id: 'till',
  release: '0.1.0',
  created_at: '2026-11-27T03:15:00.000Z',
  store_version: 9,
};

function temporary(): string {
  const path = mkdtempSync(join(tmpdir(), 'holdpoint-backup-file-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function* oneFile(onRead: () => void): AsyncGenerator<BackupEntry> {
  onRead();
  yield { path: 'agent/notes', bytes: 2, mode: 0o600, content: Readable.from([Buffer.from('hi')]) };
}

describe('writeBackup', () => {
  it('renames a complete file, so that a cut one is no backup', async () => {
    const folder = temporary();
    const path = join(folder, 'till-20261127T031500Z.tar.gz');
    let wasThere = true;

    await writeBackup(
      { path, draft: `${path}.draft`, head, signer: null },
      oneFile(() => {
        wasThere = existsSync(path);
      }),
    );

    expect(wasThere).toBe(false);
    expect(readdirSync(folder)).toEqual(['till-20261127T031500Z.tar.gz']);
  });

  it('never replaces a file that appears during the write', async () => {
    const folder = temporary();
    const path = join(folder, 'backup');

    const written = writeBackup(
      { path, draft: `${path}.draft`, head, signer: null },
      oneFile(() => writeFileSync(path, 'mine')),
    );

    await expect(written).rejects.toMatchObject({ code: 'EEXIST' });
    expect(readFileSync(path, 'utf8')).toBe('mine');
    expect(readdirSync(folder)).toEqual(['backup']);
  });
});
