import { hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type ChainVerdict, type LogFile, verifyChain } from './verify-chain.ts';

/** An audit log that cannot be read; `path` says which. */
export class AuditLogError extends Error {
  readonly code = 'audit_log_unreadable';
  readonly path: string;

  constructor(path: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`The audit log ${path} cannot be read: ${reason}. Check the path and its permissions.`, {
      cause,
    });
    this.path = path;
  }
}

/**
 * Verifies a log that is kept in files, oldest file first.
 *
 * @throws AuditLogError when a file cannot be read
 */
export function verifyFiles(paths: readonly string[]): Promise<ChainVerdict> {
  const files = paths.map((path): LogFile => ({ name: path, chunks: chunksOf(path) }));
  return verifyChain(files, (bytes) => hash('sha256', bytes, 'hex'));
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
