import { hash } from 'node:crypto';
import type { AuditEvent } from '../../ports/audit-event.ts';
import { maximumLineBytes } from './chain-format.ts';
import type { LineSigner } from './line-signer.ts';
import { recordableObject } from './recordable.ts';

/** A line of the log with the `prev_hash` of the next line. */
export interface ChainedLine {
  /** RFC 8785 JSON without its newline. */
  line: string;
  /** Lower-case hex SHA-256 of the bytes of `line`. */
  hash: string;
}

/** Bytes of `,"sig":"…"`: an Ed25519 signature has 88 characters of base64. */
const signatureBytes = 97;

/**
 * Converts an event to the next line of the log (docs/contract/audit.md). Throws nothing except the signer's errors,
 * for any event content. An event cannot set `prev_hash`, `kid` or `sig` itself.
 *
 * @param previousHash hash of the previous line, `GENESIS` at the start, `null` for a log without a chain
 * @param signer adds `kid` and `sig` to the line; `null` for a log without signatures
 */
export function chainLine(
  event: AuditEvent,
  previousHash: string | null,
  signer: LineSigner | null = null,
): ChainedLine {
  const line = {
    ...event,
    prev_hash: previousHash ?? undefined,
    kid: signer?.kid,
    sig: undefined as string | undefined,
  };
  const maximum = signer === null ? maximumLineBytes : maximumLineBytes - signatureBytes;
  let text = recordableObject(line);
  const size = sizeAbove(maximum, text);
  if (size !== null) {
    line.fields = { cut: `fields left out: the line had ${size} bytes` };
    text = recordableObject(line);
  }
  if (signer !== null) text = recordableObject({ ...line, sig: signer.sign(Buffer.from(text)) });
  return { line: text, hash: hash('sha256', text, 'hex') };
}

/** Returns the size of a string in bytes if it exceeds a maximum. */
function sizeAbove(maximum: number, text: string): number | null {
  if (text.length * 3 <= maximum) return null;
  const size = Buffer.byteLength(text);
  return size > maximum ? size : null;
}
