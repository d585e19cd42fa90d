import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonObject } from '../../../machines/json.ts';
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
  const envelope = envelopeOf(event);
  if (previousHash !== null) envelope['prev_hash'] = previousHash;
  if (signer !== null) envelope['kid'] = signer.kid;
  const maximum = signer === null ? maximumLineBytes : maximumLineBytes - signatureBytes;
  let text = canonical(envelope);
  const size = sizeAbove(maximum, text);
  if (size !== null) {
    envelope['fields'] = { cut: `fields left out: the line had ${size} bytes` };
    text = canonical(envelope);
  }
  const line = signer === null ? text : withSignature(text, envelope, signer);
  return { line, hash: hash('sha256', line, 'hex') };
}

function canonical(object: JsonObject): string {
  return canonicalize(object) as string;
}

/**
 * Inserts a line's signature. Members are sorted by name in canonical form, so `sig` goes before the members that sort
 * after it, whose text is the end of the line.
 */
function withSignature(text: string, envelope: JsonObject, signer: LineSigner): string {
  const after = Object.entries(envelope).filter(([name]) => name > 'sig');
  const end = canonical(Object.fromEntries(after)).slice(1);
  const isLast = after.length === 0;
  const before = text.slice(0, isLast ? -1 : -end.length);
  const signature = `"sig":"${signer.sign(Buffer.from(text))}"`;
  return isLast ? `${before},${signature}}` : `${before}${signature},${end}`;
}

/** Returns the size of a string in bytes if it exceeds a maximum. */
function sizeAbove(maximum: number, text: string): number | null {
  if (text.length * 3 <= maximum) return null;
  const size = Buffer.byteLength(text);
  return size > maximum ? size : null;
}

const ownKeys: ReadonlySet<string> = new Set(['prev_hash', 'kid', 'sig']);

function envelopeOf(event: AuditEvent): JsonObject {
  const envelope = recordableObject(event, 1);
  for (const key of Object.keys(envelope)) {
    const value = envelope[key];
    if (isEmpty(value) || ownKeys.has(key)) delete envelope[key];
  }
  return envelope;
}

function isEmpty(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
}
