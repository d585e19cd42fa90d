import type { SecurityScheme } from '../../../machines/card/agent-card.ts';
import type { ServiceConfig } from '../../config/config.ts';
import { callerOfClaims, usualClaims } from './caller-of-claims.ts';
import { loadJwt } from './load-jwt.ts';
import { refusal, type TokenVerifier, type VerifierPorts } from './token-verifier.ts';

type IapProvider = Extract<ServiceConfig['auth']['providers'][number], { type: 'cloud_iap' }>;

/** Returns the card's scheme for the assertion of an identity-aware proxy. */
export function iapScheme(): SecurityScheme {
  return { type: 'apiKey', in: 'header', name: 'X-Cloud-Iap-Jwt-Assertion' };
}

/** Maximum age of the proxy's key set, in milliseconds. */
const maximumAge = 3_600_000;

/** Allowed clock skew, in milliseconds. */
const skew = 30_000;

/**
 * Verifies the assertion of an identity-aware proxy about its user (docs/contract/authentication.md). The assertion has
 * its own header; this verifier never reads bearer tokens.
 */
export async function iapVerifier(
  { name, settings, groups_claim: groupsClaim }: IapProvider,
  ports: VerifierPorts,
): Promise<TokenVerifier> {
  const { IssuerKeys, issuerOf, verifyJwt } = await loadJwt();
  const { issuer, audience, jwks_url: url } = settings;
  const rules = {
    name,
    keys: new IssuerKeys({ name, issuer, url, maximumAge, ...ports }),
    algorithms: ['ES256'],
    issuer,
    audience,
    skew,
    longest: settings.max_token_lifetime,
  };
  return {
    tokenKind: 'iap',
    async verify({ iapAssertion }) {
      if (iapAssertion === null || issuerOf(iapAssertion) !== issuer) return null;
      return verifyJwt(iapAssertion, {
        ...rules,
        read(claims) {
          const caller = callerOfClaims(name, claims, usualClaims, {
            groupsClaim,
            reads: ports.reads(),
          });
          if (caller !== null) return { kind: 'verified', caller };
          return refusal('rejected', 'the assertion has no user in its claim sub');
        },
      });
    },
  };
}
