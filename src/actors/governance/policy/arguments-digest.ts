import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ToolCall } from '../../../machines/domain/task.ts';
import type { JsonObject } from '../../../machines/json.ts';

/** Returns the lower-case hex SHA-256 of a call's arguments in RFC 8785 form (docs/contract/task.md). */
export function argumentsDigest(args: JsonObject): string {
  return hash('sha256', canonicalize(args) ?? '', 'hex');
}

/** Returns the digests of a call: of its arguments, and of `{tool, args}`, both in RFC 8785 form. */
export function callDigests(
  tool: string,
  args: JsonObject,
): Required<Pick<ToolCall, 'argsSha256' | 'callSha256'>> {
  const text = canonicalize(args) ?? '';
  return {
    argsSha256: hash('sha256', text, 'hex'),
    callSha256: hash('sha256', `{"args":${text},"tool":${JSON.stringify(tool)}}`, 'hex'),
  };
}
