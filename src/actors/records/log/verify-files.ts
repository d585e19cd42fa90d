import { createReadStream } from 'node:fs';
import { messageOf } from '../../../machines/message-of.ts';
import { nodeKeyRing, sha256Hex } from './node-crypto.ts';
import type { PublicKeySet } from './public-keys.ts';
import type { ChainVerdict, LogFile, VerifyOptions } from './verdict.ts';
import { verifyChain } from './verify-chain.ts';

/** An audit log cannot be read; `path` names the file. */
export class AuditLogError extends Error {
  readonly code = 'audit_log_unreadable';
  readonly path: string;

  constructor(path: string, cause: unknown) {
    const reason = messageOf(cause);
    super(`The audit log ${path} cannot be read: ${reason}. Check the path and its permissions.`, {
      cause,
    });
    this.path = path;
  }
}

/** Options of a verification, with public keys as a JWKS; without `keys`, signatures are only counted. */
export type VerifyFilesOptions = Omit<VerifyOptions, 'keys'> & {
  keys?: PublicKeySet | null;
};

/**
 * Verifies a log in files, oldest file first.
 *
 * @throws AuditLogError when a file cannot be read
 */
export function verifyFiles(
  paths: readonly string[],
  options: VerifyFilesOptions = {},
): Promise<ChainVerdict> {
  return verifyNamed(
    paths.map((path): LogFile => ({ name: path, chunks: chunksOf(path) })),
    options,
  );
}

/** Verifies a log given as parts, oldest first. Rejects with the read error of a part. */
export function verifyNamed(
  files: readonly LogFile[],
  { keys = null, ...options }: VerifyFilesOptions = {},
): Promise<ChainVerdict> {
  const ring = keys === null ? null : nodeKeyRing(keys);
  return verifyChain(files, sha256Hex, { ...options, keys: ring });
}

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      yield chunk as Uint8Array;
    }
  } catch (error) {
    throw new AuditLogError(path, error);
  }
}
