import { decodeJwt, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { IssuerKeys } from './issuer-keys.ts';
import { ProviderUnavailableError } from './provider-unavailable.ts';
import { refusal, type TokenVerdict } from './token-verifier.ts';

/** Validation rules for the tokens of one issuer. */
export interface JwtRules {
  name: string;
  keys: IssuerKeys;
  algorithms: string[];
  issuer: string | string[];
  audience: string | string[];
  /** Allowed clock skew, in milliseconds. */
  skew: number;
  /** Maximum lifetime of a token, in milliseconds. */
  longest: number;
  /**
   * Maps the claims of a verified token to a verdict. Called only after signature, audience and validity are checked.
   */
  read: (claims: JWTPayload, keyId: string | undefined) => TokenVerdict;
}

/**
 * Verifies a JSON Web Token: signed by a key of the issuer, issued for this audience, valid now, within the maximum
 * lifetime, and with claims that identify a caller (docs/contract/authentication.md). Never rejects.
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

/** Returns the unverified issuer claim of a token; `null` without one. */
export function issuerOf(token: string): string | null {
  try {
    return decodeJwt(token).iss ?? null;
  } catch {
    return null;
  }
}

/** Returns the lifetime of a token in milliseconds, counted from `iat`, else from now; may be infinite or NaN. */
function lifetimeOf({ exp = Number.NaN, iat = Date.now() / 1_000 }: JWTPayload): number {
  return (exp - iat) * 1_000;
}

const otherAudience = 'the token is for another audience; ask for one for this agent';
const tooLong = 'the token lives longer than is allowed here; ask for one that ends sooner';
const tooEarly = 'the token is not valid yet; wait, or check the clocks';

/** Returns the reason of a rejection; it repeats nothing of the token. */
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
