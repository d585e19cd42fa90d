import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  fetchUserInfo,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { discoverIssuer } from '../../oauth/oauth.ts';
import type { Outbound } from '../../ports/egress.ts';

/** What the page needs of its client at an issuer. */
export interface IssuerClientSettings {
  issuer: string;
  clientId: string;
  /** `null` for a public client. */
  clientSecret: string | null;
  scopes: readonly string[];
  redirectUri: string;
  /** Path of these settings in their file, for reports. */
  setting: string;
  /** Where the issuer sends the browser after a sign-out. */
  signedOutUri: string;
  /** Claims that are requested from the issuer's userinfo endpoint if the ID token lacks one of them. */
  wantedClaims: readonly string[];
  /** Claims that identify a person; they stay those of the sign-in if the issuer omits them later. */
  identityClaims: readonly string[];
  /** Allowed clock skew, in milliseconds. */
  skew: number;
}

/** Values that a sign-in keeps in the browser until its callback. */
export interface SignInSecrets {
  state: string;
  nonce: string;
  verifier: string;
}

/** What the issuer gave to read the claims of a person again. */
export type ClaimsGrant = { refresh: string } | { access: string };

/** The claims of a person, and what reads them again; `null` if the issuer gave nothing for that. */
export interface IssuedClaims {
  claims: Record<string, unknown>;
  grant: ClaimsGrant | null;
}

/** Time for which the issuer's metadata is cached, in milliseconds. */
const metadataAge = 3_600_000;

/** The client of the page at its OpenID Connect issuer: authorization code flow with PKCE. */
export class IssuerClient {
  readonly #settings: IssuerClientSettings;
  readonly #outbound: Outbound | undefined;
  readonly #now: () => number;
  #known: { configuration: Promise<Configuration>; until: number } | null = null;

  constructor(settings: IssuerClientSettings, outbound: Outbound | undefined, now: () => number) {
    this.#settings = settings;
    this.#outbound = outbound;
    this.#now = now;
  }

  /** Returns the authorization URL of a new sign-in. Rejects if the issuer's metadata is unavailable or invalid. */
  async authorize(): Promise<{ url: string; secrets: SignInSecrets }> {
    const configuration = await this.#configuration();
    const secrets = {
      state: randomState(),
      nonce: randomNonce(),
      verifier: randomPKCECodeVerifier(),
    };
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: this.#settings.redirectUri,
      scope: this.#settings.scopes.join(' '),
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: await calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, secrets };
  }

  /** Exchanges the code in a callback's query for the verified claims of its user. Rejects if anything is invalid. */
  async exchange(query: string, { state, nonce, verifier }: SignInSecrets): Promise<IssuedClaims> {
    const configuration = await this.#configuration();
    // Built from the settings, so that no header of the request chooses the redirect URI.
    const callback = new URL(this.#settings.redirectUri);
    callback.search = query;
    const tokens = await authorizationCodeGrant(configuration, callback, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('the issuer sent no ID token');
    const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
    const access = hasUserInfo ? { access: tokens.access_token } : null;
    const grant = tokens.refresh_token === undefined ? access : { refresh: tokens.refresh_token };
    return { claims: await this.#completed(configuration, claims, tokens.access_token), grant };
  }

  /**
   * Reads the claims of a person again: by the refresh token, otherwise from the userinfo endpoint. A claim that the
   * endpoint omits is removed, unless it identifies the person. Returns `null` if the issuer refuses, such as for a
   * disabled person. Rejects if it does not answer.
   */
  async readAgain(
    grant: ClaimsGrant,
    before: Record<string, unknown>,
  ): Promise<IssuedClaims | null> {
    const configuration = await this.#configuration();
    const subject = String(before['sub']);
    try {
      if ('access' in grant) {
        const info = await fetchUserInfo(configuration, grant.access, subject);
        const known = this.#settings.identityClaims;
        return { claims: renewedBy(identityIn(before, known), info), grant };
      }
      const tokens = await refreshTokenGrant(configuration, grant.refresh);
      const claims = tokens.claims() ?? { sub: subject };
      if (claims.sub !== subject) return null;
      const completed = await this.#completed(configuration, claims, tokens.access_token);
      return { claims: completed, grant: { refresh: tokens.refresh_token ?? grant.refresh } };
    } catch (error) {
      if (isRefusal(error)) return null;
      throw error;
    }
  }

  /** Adds the claims of the userinfo endpoint if the ID token lacks one that is wanted. */
  async #completed(
    configuration: Configuration,
    claims: Record<string, unknown> & { sub: string },
    accessToken: string,
  ): Promise<Record<string, unknown>> {
    const isComplete = this.#settings.wantedClaims.every((name) => isPresent(claims, name));
    const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
    if (isComplete || !hasUserInfo) return claims;
    return withUserInfo(claims, await fetchUserInfo(configuration, accessToken, claims.sub));
  }

  /** Returns the sign-out URL of the issuer; `null` if it has none or is unavailable. It contains no token. */
  async signOutUrl(): Promise<string | null> {
    const configuration = await this.#configuration().catch(() => null);
    if (configuration?.serverMetadata().end_session_endpoint === undefined) return null;
    const parameters = { post_logout_redirect_uri: this.#settings.signedOutUri };
    return buildEndSessionUrl(configuration, parameters).href;
  }

  #configuration(): Promise<Configuration> {
    const known = this.#known;
    if (known !== null && this.#now() < known.until) return known.configuration;
    const configuration = this.#discover();
    this.#known = { configuration, until: this.#now() + metadataAge };
    configuration.catch(() => {
      this.#known = null;
    });
    return configuration;
  }

  #discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret, skew, setting } = this.#settings;
    return discoverIssuer(
      { ...{ issuer, clientId, clientSecret, skew, setting }, checksSignatures: true },
      this.#outbound,
    );
  }
}

/** An error of the server, and one about the client itself, do not concern the person. */
function isRefusal(error: unknown): boolean {
  if (error instanceof ResponseBodyError) return error.error === 'invalid_grant';
  return error instanceof WWWAuthenticateChallengeError && [401, 403].includes(error.status);
}

/** An email and its verification come from one document, so that neither vouches for the other one's address. */
function withUserInfo(
  claims: Record<string, unknown>,
  info: Record<string, unknown>,
): Record<string, unknown> {
  const { email: _, email_verified: __, ...others } = info;
  return isPresent(claims, 'email')
    ? { ...others, ...claims }
    : { ...info, ...withoutProof(claims) };
}

/** Claims of the ID token about the sign-in itself, which say nothing about rights. */
const signInClaims: readonly string[] = [
  ...['iss', 'sub', 'aud', 'azp', 'exp', 'iat', 'nbf', 'auth_time', 'nonce', 'acr', 'amr', 'sid'],
  ...['jti', 'email_verified', 'xms_edov', 'name', 'preferred_username'],
];

function identityIn(
  claims: Record<string, unknown>,
  identifying: readonly string[],
): Record<string, unknown> {
  const kept = [...signInClaims, ...identifying];
  return Object.fromEntries(Object.entries(claims).filter(([name]) => kept.includes(name)));
}

/** An email and its verification come from one document. */
function renewedBy(
  before: Record<string, unknown>,
  info: Record<string, unknown>,
): Record<string, unknown> {
  return isPresent(info, 'email')
    ? { ...withoutProof(before), ...info }
    : { ...before, ...withoutProof(info) };
}

function withoutProof({ email_verified: _, xms_edov: __, ...claims }: Record<string, unknown>) {
  return claims;
}

/** The first part of a dotted path, such as `realm_access.roles`, is the name of a claim as well. */
function isPresent(claims: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(claims, name) || Object.hasOwn(claims, name.split('.')[0] ?? name);
}
