import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as secretFile from '../../../src/actors/secrets/secret-file.ts';
import type { DeriveKey } from '../../../src/actors/secrets/secret-format.ts';
import { SecretsError } from '../../../src/actors/secrets/secrets-error.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const passphrase = 'open sesame';

/** Stands for scrypt, whose work `secret-format.test.ts` does. */
const derive: DeriveKey = async (words, { n, r, p, salt }) =>
  createHash('sha256').update(`${words} ${n} ${r} ${p}`).update(salt).digest();

const readSecrets = (path: string, words: string) => secretFile.readSecrets(path, words, derive);
const changeSecrets = (
  path: string,
  words: string,
  change: (secrets: Map<string, string>) => void,
) => secretFile.changeSecrets(path, words, change, derive);

function set(path: string, name: string, value = `value of ${name}`): Promise<void> {
  return changeSecrets(path, passphrase, (secrets) => secrets.set(name, value));
}

function locked(path: string): SecretsError {
  return new SecretsError(
    'secrets_locked',
    `the secrets in ${path} cannot be opened: wrong passphrase, or the file was changed; try again, or restore a backup`,
  );
}

describe('the file of secrets', () => {
  it('is deleted with its last secret, and may get another passphrase', async () => {
    const path = join(temporaryFolder(), '.service', 'secrets.enc');
    await set(path, 'A');
    await set(path, 'B');
    await changeSecrets(path, passphrase, (secrets) => secrets.delete('A'));
    expect(secretFile.hasSecretFile(path)).toBe(true);
    await changeSecrets(path, passphrase, (secrets) => secrets.delete('B'));
    expect(secretFile.hasSecretFile(path)).toBe(false);
    expect(await readSecrets(path, 'another passphrase')).toEqual(new Map());
    await changeSecrets(path, 'another passphrase', (secrets) => secrets.set('C', 'c'));
    expect(await readSecrets(path, 'another passphrase')).toEqual(new Map([['C', 'c']]));
  });

  it('is created for its owner only, in a folder for its owner only, with any umask', async () => {
    const path = join(temporaryFolder(), '.service', 'secrets.enc');
    const before = process.umask(0);
    try {
      await set(path, 'A');
    } finally {
      process.umask(before);
    }
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(path, '..')).toSorted()).toEqual(['secrets.enc', 'secrets.enc.lock']);
    chmodSync(path, 0o644);
    await set(path, 'B');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('loses nothing under concurrent changes', async () => {
    const path = join(temporaryFolder(), 'secrets.enc');
    await Promise.all(['A', 'B', 'C', 'D'].map((name) => set(path, name)));
    expect([...(await readSecrets(path, passphrase)).keys()].toSorted()).toEqual([
      'A',
      'B',
      'C',
      'D',
    ]);
  });

  it('has the same error for a wrong passphrase and a changed file, and is not changed', async () => {
    const path = join(temporaryFolder(), 'secrets.enc');
    await set(path, 'A');
    const text = readFileSync(path, 'utf8');
    const wrong = changeSecrets(path, 'wrong', (secrets) => secrets.clear());
    await expect(wrong).rejects.toEqual(locked(path));
    expect(readFileSync(path, 'utf8')).toBe(text);
    const changed = text.replace('"p":1', '"p":2');
    for (const broken of [changed, '', 'x'.repeat(2 ** 20 + 1)]) {
      writeFileSync(path, broken);
      await expect(readSecrets(path, passphrase)).rejects.toEqual(locked(path));
      await expect(set(path, 'B')).rejects.toEqual(locked(path));
      expect(readFileSync(path, 'utf8')).toBe(broken);
    }
  });

  it('is unchanged when the change throws, and can be changed again', async () => {
    const path = join(temporaryFolder(), 'secrets.enc');
    await set(path, 'A');
    const text = readFileSync(path, 'utf8');
    const refused = changeSecrets(path, passphrase, () => {
      throw new Error('no');
    });
    await expect(refused).rejects.toThrow('no');
    expect(readFileSync(path, 'utf8')).toBe(text);
    await set(path, 'B');
    expect((await readSecrets(path, passphrase)).size).toBe(2);
  });

  it('replaces the draft of a process that was killed before the rename', async () => {
    const path = join(temporaryFolder(), 'secrets.enc');
    await set(path, 'A');
    writeFileSync(`${path}.draft`, 'half of a fi');
    expect((await readSecrets(path, passphrase)).size).toBe(1);
    await set(path, 'B');
    expect((await readSecrets(path, passphrase)).size).toBe(2);
    expect(readdirSync(join(path, '..')).toSorted()).toEqual(['secrets.enc', 'secrets.enc.lock']);
  });

  it('is not written through a foreign link of its draft name', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'secrets.enc');
    writeFileSync(join(folder, 'theirs'), 'theirs');
    symlinkSync('theirs', `${path}.draft`);
    await set(path, 'A');
    expect(readFileSync(join(folder, 'theirs'), 'utf8')).toBe('theirs');
  });

  it('is changed at the target of its link', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'secrets.enc');
    mkdirSync(join(folder, 'kept'));
    await set(join(folder, 'kept', 'real.enc'), 'A');
    symlinkSync('kept/real.enc', path);
    await set(path, 'B');
    expect(readlinkSync(path)).toBe('kept/real.enc');
    expect((await readSecrets(join(folder, 'kept', 'real.enc'), passphrase)).size).toBe(2);
  });

  it('does not grow beyond the readable size', async () => {
    const path = join(temporaryFolder(), 'secrets.enc');
    await expect(set(path, 'A', 'x'.repeat(2 ** 20))).rejects.toEqual(
      new SecretsError(
        'secrets_unusable',
        `${path} would exceed 1048576 bytes; delete unused secrets`,
      ),
    );
    expect(readdirSync(join(path, '..'))).toEqual(['secrets.enc.lock']);
  });

  it('is refused when it is not a file, and is empty when it is missing', async () => {
    const folder = temporaryFolder();
    const unusable = new SecretsError(
      'secrets_unusable',
      `${folder} is no file; name another in secrets.path`,
    );
    await expect(readSecrets(folder, passphrase)).rejects.toEqual(unusable);
    expect(await readSecrets(join(folder, 'none'), passphrase)).toEqual(new Map());
  });

  it('cannot be opened after it was cut', async () => {
    const path = join(temporaryFolder(), 'secrets.enc');
    await set(path, 'A');
    truncateSync(path, statSync(path).size - 1);
    await expect(readSecrets(path, passphrase)).rejects.toEqual(locked(path));
  });
});
