import { hash, timingSafeEqual } from 'node:crypto';
import { runtimeProvider } from '../../machines/governance/approvers.ts';
import type { Caller } from '../../machines/task/task.ts';
import type { Authenticator, Verification } from '../ports.ts';

/** A token and whom it stands for. */
export interface StaticToken {
  token: string;
  caller: Caller;
}

/** Which tokens are accepted. */
export interface AuthenticatorOptions {
  /** The daemon's own token; always first. */
  runtimeToken: string;
  tokens: readonly StaticToken[];
  /** True lets callers in who show no token; one that is shown must still be known. */
  isOptional: boolean;
}

/** Makes the authentication chain of an agent; tokens are compared in constant time (contract section 8). */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const known = [{ token: options.runtimeToken, caller: runtimeCaller }, ...options.tokens].map(
    ({ token, caller }) => ({ digest: digestOf(token), caller }),
  );
  return {
    async verify(token): Promise<Verification> {
      if (token === null) {
        if (options.isOptional) return { kind: 'anonymous' };
        return { kind: 'rejected', message: 'send a bearer token in the Authorization header' };
      }
      const digest = digestOf(token);
      const found = known.find((entry) => timingSafeEqual(entry.digest, digest));
      if (found !== undefined) return { kind: 'verified', caller: found.caller };
      return { kind: 'rejected', message: 'the bearer token is not known here' };
    },
  };
}

const runtimeCaller: Caller = { provider: runtimeProvider, userId: runtimeProvider };

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
