import type { Caller } from '../../machines/domain/task.ts';

/** Credentials of a request; `null` for each that is absent. */
export interface Credentials {
  /** The token of `Authorization: Bearer`. */
  bearer: string | null;
  /** `X-Cloud-Iap-Jwt-Assertion`, as set by an identity-aware proxy. */
  iapAssertion: string | null;
  /** The organisation that the request names; unverified. */
  orgId: string | null;
}

/** The kind of credential that was verified (docs/contract/authentication.md). */
export type TokenKind = 'none' | 'bearer' | 'jwt' | 'iap' | 'sigv4' | 'runtime' | 'session';

/**
 * Why authentication failed (docs/contract/authentication.md). `missing_token`: no credentials. `rejected`: unknown
 * credentials, or their owner is not allowed. `invalid`: forged, expired or for another audience.
 * `provider_unavailable`: the provider cannot be reached.
 */
export type AuthFailure = 'missing_token' | 'rejected' | 'invalid' | 'provider_unavailable';

/** The only part of the agent that a token opens: the MCP endpoint, or `GET /metrics`. */
export type TokenPlace = 'mcp' | 'metrics';

/**
 * Result of the authentication chain; `anonymous` only while authentication is off. `opens` is absent for a token that
 * is not restricted to one place.
 */
export type Verification =
  | { kind: 'verified'; caller: Caller; tokenKind: TokenKind; opens?: TokenPlace }
  | { kind: 'anonymous' }
  | { kind: 'rejected'; reason: AuthFailure; message: string; tokenKind: TokenKind };

/** The authentication chain (docs/contract/authentication.md). */
export interface Authenticator {
  /** Verifies the credentials of a request. Never rejects. */
  verify(credentials: Credentials): Promise<Verification>;
}
