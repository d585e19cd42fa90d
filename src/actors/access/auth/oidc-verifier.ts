import type { SecurityScheme } from '../../../machines/card/agent-card.ts';
import type { ServiceConfig } from '../../config/config.ts';
import { callerOfClaims } from './caller-of-claims.ts';
import { loadJwt } from './load-jwt.ts';
import { refusal, type TokenVerifier, type VerifierPorts } from './token-verifier.ts';

type OidcProvider = Extract<ServiceConfig['auth']['providers'][number], { type: 'oidc' }>;

/** Returns the card's scheme for an issuer: its discovery document. */
export function oidcScheme({ issuer }: Pick<OidcProvider['settings'], 'issuer'>): SecurityScheme {
  const openIdConnectUrl = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
  return { type: 'openIdConnect', openIdConnectUrl };
}

/**
 * Only signatures with a public key are allowed: `none` and HS would let anyone sign
 * (docs/contract/authentication.md).
 */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA'],
];

/**
 * Verifies the JSON Web Tokens of one OpenID Connect issuer (docs/contract/authentication.md). A token that names this
 * issuer is verified here and nowhere else.
 */
export async function oidcVerifier(
  { name, settings, groups_claim: groupsClaim }: OidcProvider,
  ports: VerifierPorts,
): Promise<TokenVerifier> {
  const { IssuerKeys, issuerOf, verifyJwt } = await loadJwt();
  const { issuer, jwks_url: url, jwks_cache_ttl: maximumAge, claim_map: map } = settings;
  const needsProof = settings.require_email_verified ?? ports.bindsApprover;
  const own = [settings.audience ?? settings.client_id ?? []].flat();
  const rules = {
    name,
    keys: new IssuerKeys({ name, issuer, url, maximumAge, ...ports }),
    algorithms,
    issuer,
    audience: [...own, ...(ports.resource ? [ports.resource] : [])],
    skew: settings.clock_skew,
    longest: settings.max_token_lifetime,
  };
  return {
    tokenKind: 'jwt',
    async verify({ bearer }) {
      if (bearer === null || issuerOf(bearer) !== issuer) return null;
      return verifyJwt(bearer, {
        ...rules,
        read(claims) {
          const caller = callerOfClaims(name, claims, map, {
            ...{ needsProof, groupsClaim },
            reads: ports.reads(),
          });
          const isForMcp = ![claims.aud ?? []].flat().some((audience) => own.includes(audience));
          if (caller !== null) {
            return { kind: 'verified', caller, ...(isForMcp ? { opens: 'mcp' } : {}) };
          }
          return refusal('rejected', `the token has no user in its claim ${map.user_id}`);
        },
      });
    },
  };
}
