import { runtimeProvider } from '../../machines/governance/approvers.ts';
import type { Authenticator, Verification } from '../ports.ts';
import { staticTokenVerifier } from './static-token-verifier.ts';
import type { TokenVerifier } from './token-verifier.ts';

/** Which tokens are accepted. */
export interface AuthenticatorOptions {
  /** The daemon's own token; always first. */
  runtimeToken: string;
  /** Who else is asked, in order. */
  tokens: readonly TokenVerifier[];
  /** True lets callers in who show no token; one that is shown must still be known. */
  isOptional: boolean;
}

/** Makes the authentication chain of an agent: who recognises a token first decides (contract section 8). */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const runtime = { provider: runtimeProvider, userId: runtimeProvider };
  const chain = [staticTokenVerifier(options.runtimeToken, runtime), ...options.tokens];
  return {
    async verify(token): Promise<Verification> {
      if (token === null) {
        if (options.isOptional) return { kind: 'anonymous' };
        return { kind: 'rejected', message: 'send a bearer token in the Authorization header' };
      }
      for (const verifier of chain) {
        const verdict = await verifier.verify(token);
        if (verdict !== null) return verdict;
      }
      return { kind: 'rejected', message: 'the bearer token is not known here' };
    },
  };
}
