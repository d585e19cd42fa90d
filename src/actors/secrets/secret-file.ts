import { existsSync, realpathSync, rmSync, statSync } from 'node:fs';
import { readRegularFile, UnusableFileError } from '../read-regular-file.ts';
import { replaceDurably } from './replace-durably.ts';
import { type DeriveKey, decodeSecrets, encodeSecrets, type Secrets } from './secret-format.ts';
import { SecretsError } from './secrets-error.ts';
import { takeLock } from './take-lock.ts';
import { fileReason, unusableFile } from './unusable-file.ts';

/** Maximum size of the file in bytes; a thousand keys take a tenth of it. */
const largestFile = 1024 * 1024;

/** Returns whether an agent has an encrypted file. */
export function hasSecretFile(path: string): boolean {
  return existsSync(path);
}

/** Reads the secrets of an encrypted file; empty if it does not exist. Rejects with a SecretsError. */
export async function readSecrets(
  path: string,
  passphrase: string,
  derive?: DeriveKey,
): Promise<Secrets> {
  const text = readText(path);
  if (text === null) return new Map();
  const secrets = await decodeSecrets(text, passphrase, derive);
  if (secrets !== null) return secrets;
  throw new SecretsError(
    'secrets_locked',
    `the secrets in ${path} cannot be opened: wrong passphrase, or the file was changed; try again, or restore a backup`,
  );
}

/**
 * Changes the secrets of an encrypted file, creates it if it is missing, and removes it with its last secret. Concurrent changes wait for each other, so
 * none is lost (docs/contract/secrets.md). If `change` throws, the file is unchanged. Rejects with a SecretsError.
 */
export async function changeSecrets(
  path: string,
  passphrase: string,
  change: (secrets: Map<string, string>) => void,
  derive?: DeriveKey,
): Promise<void> {
  const lock = await takeLock(path);
  try {
    const secrets = new Map(await readSecrets(path, passphrase, derive));
    change(secrets);
    if (secrets.size === 0) return remove(path);
    const text = await encodeSecrets(secrets, passphrase, derive);
    if (text.length > largestFile) {
      throw unusableFile(path, `would exceed ${largestFile} bytes; delete unused secrets`);
    }
    write(path, text);
  } finally {
    lock.release();
  }
}

function readText(path: string): string | null {
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return null;
    return readRegularFile(path, largestFile).toString('latin1');
  } catch (error) {
    if (error instanceof UnusableFileError) {
      // A file of that size was not written by this program.
      if (error.code === 'too_long') return '';
      throw unusableFile(path, 'is no file; name another in secrets.path', error);
    }
    throw unusableFile(
      path,
      `cannot be read (${fileReason(error)}); check its owner and permissions`,
      error,
    );
  }
}

/** A file without a secret would only demand its passphrase. A linked file is removed with its link. */
function remove(path: string): void {
  try {
    if (!existsSync(path)) return;
    rmSync(realpathSync(path));
    rmSync(path, { force: true });
  } catch (error) {
    throw unusableFile(path, `cannot be removed (${fileReason(error)})`, error);
  }
}

function write(path: string, text: string): void {
  try {
    replaceDurably(existsSync(path) ? realpathSync(path) : path, text);
  } catch (error) {
    throw unusableFile(path, `cannot be written (${fileReason(error)}); it is unchanged`, error);
  }
}
