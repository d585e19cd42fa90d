import { readFile } from 'node:fs/promises';
import { collectBytes } from '../../actors/collect-bytes.ts';
import { commandLine } from '../../actors/command-line.ts';
import { PublicKeyError, type PublicKeySet, readPublicKeys } from '../../actors/records/records.ts';
import { codeOf } from '../../machines/error-code.ts';
import { messageOf } from '../../machines/message-of.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';

/** Maximum size of a JWKS in bytes. */
const maximumBytes = 1024 * 1024;
const timeout = 10_000;

/**
 * Reads public keys from a JWKS file or URL.
 *
 * @throws CliError if it cannot be read (exit code 3 for a missing file) or is not a JWKS of Ed25519 keys (5)
 */
export async function readKeys(source: string): Promise<PublicKeySet> {
  const text = /^https?:\/\//.test(source) ? await download(source) : await readText(source);
  try {
    return readPublicKeys(text);
  } catch (error) {
    if (!(error instanceof PublicKeyError)) throw error;
    throw new CliError(plainLine(`the keys of ${source} cannot be used: ${error.message}`), {
      code: error.code,
      exitCode: exitCodes.invalid,
      cause: error,
    });
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const isMissing = codeOf(error) === 'ENOENT';
    throw unreadable(path, error, isMissing ? exitCodes.notFound : exitCodes.failed);
  }
}

async function download(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeout), redirect: 'error' });
    if (!response.ok) throw new Error(`the answer was ${response.status}`);
    return await shortText(response);
  } catch (error) {
    throw unreadable(url, error, exitCodes.notFound);
  }
}

async function shortText({ body }: Response): Promise<string> {
  const tooLong = () => new Error('the answer is longer than 1 MiB');
  const bytes = await collectBytes(body, maximumBytes, tooLong);
  return new TextDecoder().decode(bytes);
}

function unreadable(source: string, error: unknown, exitCode: 1 | 3): CliError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = messageOf(cause);
  return new CliError(plainLine(`the keys of ${source} cannot be read: ${reason}`), {
    code: 'audit_keys_unreadable',
    exitCode,
    hint: `give the path or the address of a JWKS, as ${commandLine('audit keys')} prints it`,
    cause: error,
  });
}
