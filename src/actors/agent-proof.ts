import { createHmac, timingSafeEqual } from 'node:crypto';

/** Format of a challenge: unique text that has no meaning elsewhere. */
export const challengePattern = /^[A-Za-z0-9_-]{16,128}$/;

/**
 * Proves that a listener is the daemon that wrote `serve.json`: only readers of that file have the key, and including
 * the port prevents a listener on another port from relaying the challenge (docs/contract/serve.md).
 */
export function agentProof(key: string, challenge: string, port: number): string {
  return createHmac('sha256', key).update(`${challenge} ${port}`).digest('base64url');
}

/** Compares two proofs in constant time. */
export function isSameProof(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
