import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  type CryptoKey,
  decodeJwt,
  exportJWK,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
} from 'jose';
import Provider, { type AdapterConstructor, type Configuration } from 'oidc-provider';
// @ts-expect-error The package has no types for it.
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js';
import { listenOnLoopback } from './listen-on-loopback.ts';

/** How an issuer differs from the others. */
export interface WebIssuerOptions {
  redirectUri: string;
  signedOutUri?: string;
  /** Claims of each person, by user id. */
  people: Record<string, Record<string, unknown>>;
  /** The secret of the client; a public client when absent. */
  secret?: string;
  /** How the client sends its secret. */
  clientAuth?: 'client_secret_basic' | 'client_secret_post';
  /** True if claims are at the userinfo endpoint alone. */
  isThin?: boolean;
  hasLogout?: boolean;
  /** True if the client gets refresh tokens. */
  hasRefreshTokens?: boolean;
  /** False if there is no userinfo endpoint. */
  hasUserInfo?: boolean;
}

export const webClient = 'holdpoint-approvals';

/** An OpenID Connect issuer on loopback, at which `person` signs in without a form. */
export class WebIssuer {
  readonly issuer: string;
  /** Signs in at the next sign-in; `null` refuses it. */
  person: string | null = null;
  /** Changes the claims of the next ID tokens, which the issuer's own key signs. */
  forged: ((claims: JWTPayload) => JWTPayload) | null = null;

  /** People whose accounts are disabled. */
  readonly disabled = new Set<string>();
  /** True if the issuer answers each request with 503. */
  isDown = false;
  readonly #key: CryptoKey;

  constructor(issuer: string, key: CryptoKey) {
    this.issuer = issuer;
    this.#key = key;
  }

  /** Signs a token with these claims, for a program of a person. */
  sign(claims: JWTPayload): Promise<string> {
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k1' }).sign(this.#key);
  }
}

/** Starts an issuer that is closed after the test. */
export async function startWebIssuer(options: WebIssuerOptions): Promise<WebIssuer> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const server = createServer();
  const issuer = new WebIssuer(await listenOnLoopback(server), privateKey);
  const key = { ...(await exportJWK(privateKey)), kid: 'k1', alg: 'RS256', use: 'sig' };
  const provider = new Provider(issuer.issuer, configurationOf(options, key, issuer.disabled));
  provider.use(async (context, next) => {
    await next();
    if (context.path !== '/token') return;
    const { forged } = issuer;
    const tokens = context.body as { id_token?: string };
    if (forged === null || tokens.id_token === undefined) return;
    tokens.id_token = await issuer.sign(forged(decodeJwt(tokens.id_token)));
  });
  const answer = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (issuer.isDown) {
      response.writeHead(503).end();
      return;
    }
    if (request.url?.startsWith('/sign-in/') === true) {
      const { person } = issuer;
      const result =
        person === null
          ? { error: 'access_denied', error_description: 'no' }
          : { login: { accountId: person } };
      void provider.interactionFinished(request, response, result);
      return;
    }
    void answer(request, response);
  });
  return issuer;
}

function configurationOf(
  options: WebIssuerOptions,
  key: object,
  disabled: ReadonlySet<string>,
): Configuration {
  const { people, secret, clientAuth: auth = 'client_secret_basic', isThin = false } = options;
  const names = new Set(Object.values(people).flatMap((claims) => Object.keys(claims)));
  return {
    // The default one, but without a warning that it forgets everything.
    adapter: createMemoryAdapter(0) as AdapterConstructor,
    jwks: { keys: [key as never] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    conformIdTokenClaims: isThin,
    claims: { openid: ['sub'], profile: [...names] },
    clients: [
      {
        client_id: webClient,
        grant_types: ['authorization_code', ...(options.hasRefreshTokens ? ['refresh_token'] : [])],
        redirect_uris: [options.redirectUri],
        post_logout_redirect_uris: [options.signedOutUri ?? options.redirectUri],
        token_endpoint_auth_method: secret === undefined ? 'none' : auth,
        ...(secret === undefined ? {} : { client_secret: secret }),
      },
    ],
    ...(secret === undefined ? {} : { clientAuthMethods: [auth] }),
    pkce: { required: () => true },
    interactions: { url: (_, interaction) => `/sign-in/${interaction.uid}` },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: options.hasLogout ?? true },
      userinfo: { enabled: options.hasUserInfo ?? true },
    },
    scopes: ['openid', 'profile', 'email', 'groups'],
    issueRefreshToken: () => options.hasRefreshTokens ?? false,
    expiresWithSession: () => false,
    ttl: {
      AccessToken: 300,
      RefreshToken: 300,
      Grant: 300,
      IdToken: 300,
      Interaction: 300,
      Session: 1,
    },
    findAccount: (_, sub) =>
      disabled.has(sub) ? undefined : { accountId: sub, claims: () => ({ sub, ...people[sub] }) },
    // Nobody is asked for consent.
    async loadExistingGrant(context) {
      const { Grant } = context.oidc.provider;
      const grant = new Grant({
        clientId: context.oidc.client?.clientId,
        accountId: context.oidc.session?.accountId,
      } as never);
      grant.addOIDCScope('openid profile email groups');
      await grant.save();
      return grant;
    },
  };
}
