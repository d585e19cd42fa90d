import { decodeJwt, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { IssuerKeys } from './issuer-keys.ts';
import { ProviderUnavailableError } from './provider-unavailable.ts';
import { refusal, type TokenVerdict } from './token-verifier.ts';

/** The rules for the tokens of one issuer. */
export interface JwtRules {
  /** The provider's name. */
  name: string;
  keys: IssuerKeys;
  algorithms: string[];
  issuer: string | string[];
  audience: string | string[];
  /** How far the clocks may differ, in milliseconds. */
  skew: number;
  /** How long a token may live at most, in milliseconds. */
  longest: number;
  /** Says whom the claims of a token that is signed, meant for this audience and valid now stand for. */
  read: (claims: JWTPayload, keyId: string | undefined) => TokenVerdict;
}

/**
 * Verifies a JSON Web Token: it passes when it is signed by a key of the issuer, meant for this audience, valid now and
 * not for too long, and its claims name somebody (docs/contract/authentication.md). Never rejects.
 */
export async function verifyJwt(token: string, rules: JwtRules): Promise<TokenVerdict> {
  const { algorithms, issuer, audience, skew, longest } = rules;
  const options: JWTVerifyOptions = {
    algorithms,
    issuer,
    audience,
    clockTolerance: skew / 1_000,
    requiredClaims: ['exp'],
  };
  try {
    const { payload, protectedHeader } = await jwtVerify(token, rules.keys.find, options);
    if (payload.iat !== undefined && payload.iat * 1_000 > Date.now() + skew) {
      return refusal('invalid', tooEarly);
    }
    if (!(lifetimeOf(payload) <= longest + skew)) return refusal('invalid', tooLong);
    return rules.read(payload, protectedHeader.kid);
  } catch (error) {
    if (!(error instanceof ProviderUnavailableError)) return refusal('invalid', describe(error));
    const message = `the identity provider ${rules.name} cannot be asked for its keys; try again later`;
    return refusal('provider_unavailable', message);
  }
}

/** Reads the issuer that a token claims, unverified; `null` when it claims none. */
export function issuerOf(token: string): string | null {
  try {
    return decodeJwt(token).iss ?? null;
  } catch {
    return null;
  }
}

/** How long a token lives from when it was issued, else from now, in milliseconds; it may be infinite or no number. */
function lifetimeOf({ exp = Number.NaN, iat = Date.now() / 1_000 }: JWTPayload): number {
  return (exp - iat) * 1_000;
}

const otherAudience = 'the token is for another audience; ask for one for this agent';
const tooLong = 'the token lives longer than is allowed here; ask for one that ends sooner';
const tooEarly = 'the token is not valid yet; wait, or check the clocks';

/** Rejects a token with a reason that repeats nothing of it. */
function describe(error: unknown): string {
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
