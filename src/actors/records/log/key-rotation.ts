import { type FileHandle, open } from 'node:fs/promises';
import { codeOf } from '../../../machines/error-code.ts';
import type { JsonObject } from '../../../machines/json.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import { verifySignature } from './line-signature.ts';
import { linesFromEnd } from './lines-from-end.ts';
import { nodeKeyRing } from './node-crypto.ts';
import type { AuditKeys } from './open-audit-keys.ts';
import { PublicKeyError } from './public-keys.ts';
import { readLine } from './read-line.ts';
import { AuditLogError } from './verify-files.ts';

/**
 * Returns the last signed line of a log, searching from its end; `null` if no line is signed.
 *
 * @param paths files of the log, oldest first; missing files are skipped
 * @throws AuditLogError when a file cannot be read
 */
export async function lastSignedLine(paths: readonly string[]): Promise<JsonObject | null> {
  for (const path of paths.toReversed()) {
    const line = await lastSignedIn(path);
    if (line !== null) return line;
  }
  return null;
}

/**
 * Returns the event to record if the signing key changes at this point; `null` if it does not.
 *
 * @param last the last signed line of the log
 * @throws PublicKeyError when another key signed that line under the current `kid`
 */
export async function keyRotation(
  last: JsonObject | null,
  { signer, published }: AuditKeys,
): Promise<Pick<AuditEvent, 'event' | 'fields'> | null> {
  if (last === null || signer === null) return null;
  const { kid } = last;
  if (kid !== signer.kid) {
    const oldKid = typeof kid === 'string' ? kid : '';
    return { event: 'audit_key_rotated', fields: { old_kid: oldKid, new_kid: signer.kid } };
  }
  const keys = nodeKeyRing(published);
  if ((await verifySignature(last, { keys, requireSigned: true })) === null) return null;
  throw new PublicKeyError(
    `the log was signed with another key under the kid ${JSON.stringify(kid)}, or was changed; give a new key a new audit.signing.kid`,
  );
}

async function lastSignedIn(path: string): Promise<JsonObject | null> {
  let handle: FileHandle | null = null;
  try {
    handle = await open(path, 'r');
    const { size } = await handle.stat();
    for await (const { bytes } of linesFromEnd(handle, size)) {
      const line = readLine(bytes);
      if (typeof line !== 'string' && line['sig'] !== undefined) return line;
    }
    return null;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new AuditLogError(path, error);
  } finally {
    await handle?.close();
  }
}
