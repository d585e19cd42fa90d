import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';
import type { ServiceConfig } from '../config/config.ts';
import type { Log, Verification } from '../ports.ts';
import { callerOfClaims } from './caller-of-claims.ts';
import { IssuerKeys, KeysUnavailableError } from './issuer-keys.ts';
import type { TokenVerifier } from './token-verifier.ts';

type OidcProvider = Extract<ServiceConfig['auth']['providers'][number], { type: 'oidc' }>;

/** Signatures alone that need a public key; `none` and HS would let anybody sign (contract section 8). */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA'],
];

/**
 * Judges the JSON Web Tokens of one OpenID Connect issuer (contract section 8). A token that says it
 * comes from there is judged here and nowhere else; it passes when it is signed by a key of the
 * issuer, meant for this audience and valid now.
 */
export function oidcVerifier({ name, settings }: OidcProvider, log: Log): TokenVerifier {
  const { issuer, jwks_url: url, jwks_cache_ttl: maximumAge } = settings;
  const keys = new IssuerKeys({ name, issuer, url, maximumAge, log });
  const options = {
    algorithms,
    issuer,
    audience: settings.audience ?? settings.client_id ?? [],
    clockTolerance: settings.clock_skew / 1_000,
    requiredClaims: ['exp'],
  };
  return {
    async verify(token) {
      if (issuerOf(token) !== issuer) return null;
      try {
        const { payload } = await jwtVerify(token, keys.find, options);
        return judge(name, payload, settings);
      } catch (error) {
        return refusal(describe(error, name));
      }
    },
  };
}

/** Reads whom a token claims to come from, without believing it. */
function issuerOf(token: string): unknown {
  try {
    return decodeJwt(token).iss;
  } catch {
    return null;
  }
}

function judge(
  name: string,
  claims: JWTPayload,
  { clock_skew: skew, claim_map: map }: OidcProvider['settings'],
): Verification {
  if (claims.iat !== undefined && claims.iat * 1_000 > Date.now() + skew) return refusal(tooEarly);
  const caller = callerOfClaims(name, claims, map);
  if (caller === null) return refusal(`the token has no user in its claim ${map.user_id}`);
  return { kind: 'verified', caller };
}

function refusal(message: string): Verification {
  return { kind: 'rejected', message };
}

const otherAudience = 'the token is for another audience; ask for one for this agent';
const tooEarly = 'the token is not valid yet; wait, or check the clocks';

/** Says why a token does not pass, without a word of the token. */
function describe(error: unknown, name: string): string {
  if (error instanceof KeysUnavailableError) {
    return `the identity provider ${name} cannot be asked for its keys; try again later`;
  }
  if (error instanceof errors.JWTExpired) return 'the token has expired; sign in again';
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return otherAudience;
    if (error.claim === 'nbf' && error.reason === 'check_failed') return tooEarly;
    return `the token lacks a valid claim ${error.claim}; sign in again`;
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return 'the token is not signed in a way that is accepted here; sign in again';
  }
  return 'the token is not signed by its issuer; sign in again';
}
