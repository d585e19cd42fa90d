import { hash, timingSafeEqual } from 'node:crypto';
import type { SecurityScheme } from '../../../machines/card/agent-card.ts';
import type { Caller } from '../../../machines/domain/task.ts';
import type { TokenKind } from '../../ports/authentication.ts';
import type { TokenVerifier } from './token-verifier.ts';

/** Verifies one static token in constant time (docs/contract/authentication.md). */
export function staticTokenVerifier(
  token: string,
  caller: Caller | (() => Caller),
  tokenKind: TokenKind = 'bearer',
): TokenVerifier {
  const digest = digestOf(token);
  return {
    tokenKind,
    async verify({ bearer }) {
      if (bearer === null || !timingSafeEqual(digest, digestOf(bearer))) return null;
      return { kind: 'verified', caller: typeof caller === 'function' ? caller() : caller };
    },
  };
}

/** Returns the card's scheme for static tokens. */
export function staticTokenScheme(): SecurityScheme {
  return { type: 'http', scheme: 'bearer' };
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
