import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonObject } from '../../../machines/json.ts';

/** Returns the `args_sha256` of a call: the lower-case hex SHA-256 of `{tool, args}` in RFC 8785 form. */
export function argsDigest(tool: string, args: JsonObject): string {
  return canonicalDigest({ tool, args });
}

/** Returns the lower-case hex SHA-256 of a value in RFC 8785 form. */
export function canonicalDigest(value: JsonObject): string {
  return hash('sha256', canonicalize(value) ?? '', 'hex');
}
