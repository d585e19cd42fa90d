import { SpanStatusCode } from '@opentelemetry/api';
import {
  chatProvider,
  metricsProvider,
  runtimeProvider,
} from '../../../machines/governance/approvers.ts';
import type {
  Authenticator,
  Credentials,
  TokenKind,
  TokenPlace,
  Verification,
} from '../../ports/authentication.ts';
import { inSpan } from '../../telemetry/telemetry.ts';
import { tokenPrefix } from './signed-url.ts';
import { staticTokenVerifier } from './static-token-verifier.ts';
import type { TokenVerifier } from './token-verifier.ts';

export interface AuthenticatorOptions {
  /** The daemon's own token; always checked first. */
  runtimeToken: string;
  /** The token of chat conversations; absent or `null` if no chat takes conversations. */
  chatToken?: string | null;
  /** The token of the monitoring system; absent or `null` for none. */
  metricsToken?: string | null;
  /** The remaining verifiers, in order. */
  tokens: readonly TokenVerifier[];
  /** True if callers without a token are accepted. A presented token must still be valid. */
  isOptional: boolean;
}

/**
 * Creates the authentication chain of an agent: the first verifier that recognises a credential decides
 * (docs/contract/authentication.md).
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const runtime = { provider: runtimeProvider, userId: runtimeProvider };
  const chat = { provider: chatProvider, userId: chatProvider };
  const metrics = { provider: metricsProvider, userId: metricsProvider };
  const { runtimeToken, chatToken = null, metricsToken = null } = options;
  const chain = [
    staticTokenVerifier(runtimeToken, runtime, 'runtime'),
    ...(chatToken === null ? [] : [staticTokenVerifier(chatToken, chat, 'runtime')]),
    ...(metricsToken === null
      ? []
      : [onlyFor('metrics', staticTokenVerifier(metricsToken, metrics))]),
    ...options.tokens,
  ];
  const unknown = unknownTo(options);
  return {
    verify: (credentials) =>
      inSpan('auth.verify', {}, async (span) => {
        const verdict = (await verifyToken(chain, credentials)) ?? unknown(credentials);
        span.setAttributes(describe(verdict));
        if (verdict.kind === 'rejected') span.setStatus({ code: SpanStatusCode.ERROR });
        return verdict;
      }),
  };
}

/** Restricts the callers of a verifier to one place. */
function onlyFor(opens: TokenPlace, verifier: TokenVerifier): TokenVerifier {
  return {
    tokenKind: verifier.tokenKind,
    async verify(credentials) {
      const verdict = await verifier.verify(credentials);
      return verdict?.kind === 'verified' ? { ...verdict, opens } : verdict;
    },
  };
}

/**
 * Asks each verifier in turn; the first that recognises the credential decides. A verifier that fails rejects the
 * credential.
 */
async function verifyToken(
  chain: readonly TokenVerifier[],
  credentials: Credentials,
): Promise<Verification | null> {
  for (const verifier of chain) {
    const { tokenKind } = verifier;
    try {
      const verdict = await verifier.verify(credentials);
      if (verdict !== null) return { ...verdict, tokenKind };
    } catch {
      const message = 'the token could not be judged; try again later';
      return { kind: 'rejected', reason: 'provider_unavailable', message, tokenKind };
    }
  }
  return null;
}

/** Rejects a credential that no provider recognises. An assertion that no provider reads is ignored. */
function unknownTo({ tokens, isOptional }: AuthenticatorOptions) {
  const isIapRead = tokens.some(({ tokenKind }) => tokenKind === 'iap');
  return ({ bearer, iapAssertion }: Credentials): Verification => {
    if (bearer !== null) return rejected('the bearer token is unknown', kindOf(bearer));
    if (isIapRead && iapAssertion !== null) {
      return rejected('the assertion of the proxy is unknown', 'iap');
    }
    if (isOptional) return { kind: 'anonymous' };
    return {
      kind: 'rejected',
      reason: 'missing_token',
      message: 'send a bearer token in the Authorization header',
      tokenKind: 'none',
    };
  };
}

function rejected(message: string, tokenKind: TokenKind): Verification {
  return { kind: 'rejected', reason: 'rejected', message, tokenKind };
}

/** Guesses the kind of a token from its format. */
function kindOf(bearer: string): TokenKind {
  if (bearer.startsWith(tokenPrefix)) return 'sigv4';
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(bearer) ? 'jwt' : 'bearer';
}

function describe(verdict: Verification): Record<string, string> {
  if (verdict.kind === 'anonymous') return { 'auth.result': 'anonymous' };
  if (verdict.kind === 'rejected') {
    return { 'auth.result': verdict.reason, 'auth.token_kind': verdict.tokenKind };
  }
  const { caller, tokenKind } = verdict;
  return {
    'auth.result': 'verified',
    'auth.token_kind': tokenKind,
    'auth.provider': caller.provider,
  };
}
