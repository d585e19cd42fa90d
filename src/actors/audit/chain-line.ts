import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonObject } from '../../machines/json.ts';
import type { AuditEvent } from '../ports.ts';
import { maximumLineBytes } from './chain-format.ts';
import { recordableObject } from './recordable.ts';

/** A line of the log and what the next one has to carry as its `prev_hash`. */
export interface ChainedLine {
  /** RFC 8785 JSON without its newline. */
  line: string;
  /** Lower-case hex SHA-256 of the bytes of `line`. */
  hash: string;
}

/**
 * Turns an event into the next line of the log (contract section 10); it never throws, whatever the event holds.
 *
 * @param previousHash the hash of the line before, `GENESIS` at the start, `null` for a log without a chain
 */
export function chainLine(event: AuditEvent, previousHash: string | null): ChainedLine {
  const envelope = envelopeOf(event, previousHash);
  let line = canonicalize(envelope) ?? '';
  if (line.length * 3 > maximumLineBytes) {
    const size = Buffer.byteLength(line);
    if (size > maximumLineBytes) {
      envelope['fields'] = { cut: `fields left out: the line had ${size} bytes` };
      line = canonicalize(envelope) ?? '';
    }
  }
  return { line, hash: hash('sha256', line, 'hex') };
}

function envelopeOf(event: AuditEvent, previousHash: string | null): JsonObject {
  const envelope = recordableObject(event, 1);
  for (const key of Object.keys(envelope)) {
    const value = envelope[key];
    if (value === '' || value === null || isEmptyObject(value)) delete envelope[key];
  }
  if (previousHash !== null) envelope['prev_hash'] = previousHash;
  return envelope;
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
