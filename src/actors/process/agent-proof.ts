import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a challenge looks like: something nobody has asked before, and no text of any use elsewhere. */
export const challengePattern = /^[A-Za-z0-9_-]{16,128}$/;

/**
 * What proves that a listener is the daemon that wrote `serve.json`: only who reads that file knows the key, and the
 * port keeps one that listens elsewhere from passing the question on (docs/contract/serve.md).
 */
export function agentProof(key: string, challenge: string, port: number): string {
  return createHmac('sha256', key).update(`${challenge} ${port}`).digest('base64url');
}

/** Compares two proofs in constant time. */
export function isSameProof(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
