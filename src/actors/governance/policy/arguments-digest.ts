import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonObject } from '../../../machines/json.ts';

/** Returns the lower-case hex SHA-256 of the RFC 8785 form of a call's arguments (contract section 4). */
export function argumentsDigest(args: JsonObject): string {
  return hash('sha256', canonicalize(args) ?? '', 'hex');
}
