import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
} from 'jose';
import Provider, { type AdapterConstructor, type Configuration } from 'oidc-provider';
// @ts-expect-error The package has no types for it.
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js';
import { listenOnLoopback } from './listen-on-loopback.ts';

/** The resource that access tokens are asked for: an agent, as its issuer knows it. */
export const agentResource = 'urn:agent:till';

/** The client that the issuer knows. */
export const knownClient = { id: 'desk', redirect: 'https://desk.example/signed-in' };
const keyId = 'k1';

/** An OpenID Connect issuer on loopback, where people sign in at one level or another. */
export class IdentityProvider {
  readonly issuer: string;
  /** The key that everybody may know. */
  readonly publicKey: JWK;
  readonly #privateKey: CryptoKey;

  constructor(issuer: string, keys: { publicKey: JWK; privateKey: CryptoKey }) {
    this.issuer = issuer;
    this.publicKey = keys.publicKey;
    this.#privateKey = keys.privateKey;
  }

  /** Signs a person in at a level, by authorization code and PKCE, and resolves with the access token. */
  async signIn(person: string, acr: string, resource = agentResource): Promise<string> {
    const verifier = randomBytes(32).toString('base64url');
    const request = new URLSearchParams({
      client_id: knownClient.id,
      response_type: 'code',
      scope: 'openid',
      redirect_uri: knownClient.redirect,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      login_hint: person,
      acr_values: acr,
      resource,
    });
    const code = await this.follow(`${this.issuer}/auth?${request}`);
    const answer = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        client_id: knownClient.id,
        grant_type: 'authorization_code',
        code,
        redirect_uri: knownClient.redirect,
        code_verifier: verifier,
        resource,
      }),
    });
    const { access_token: token } = (await answer.json()) as { access_token: string };
    return token;
  }

  /** Signs claims with the key of the issuer: the tokens it would never give out. */
  forge(claims: JWTPayload): Promise<string> {
    const header = { alg: 'RS256', typ: 'at+jwt', kid: keyId };
    return new SignJWT(claims).setProtectedHeader(header).sign(this.#privateKey);
  }

  /** Follows the redirects of an authorization address as a browser does, up to the code. */
  async follow(start: string): Promise<string> {
    const cookies = new Map<string, string>();
    let url = start;
    for (let steps = 0; !url.startsWith(knownClient.redirect); steps += 1) {
      if (steps === 10) throw new Error(`the way to the code does not end: ${url}`);
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await fetch(url, { headers: { cookie }, redirect: 'manual' });
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      const next = answer.headers.get('location');
      if (next === null) throw new Error(`no redirect: ${answer.status} ${await answer.text()}`);
      url = new URL(next, url).href;
    }
    const code = new URL(url).searchParams.get('code');
    if (code === null) throw new Error(`no code: ${url}`);
    return code;
  }
}

/** Starts an issuer that is closed after the test. */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const server = createServer();
  const issuer = await listenOnLoopback(server);
  const signing = { ...(await exportJWK(privateKey)), kid: keyId, alg: 'RS256', use: 'sig' };
  const provider = new Provider(issuer, configurationWith(signing));
  const answer = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const isSignIn = request.url?.startsWith('/sign-in/') === true;
    void (isSignIn ? finishSignIn(provider, request, response) : answer(request, response));
  });
  return new IdentityProvider(issuer, { publicKey: await exportJWK(publicKey), privateKey });
}

/** The page where a person would sign in: the expected person has done so, at the requested level. */
async function finishSignIn(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { params } = await provider.interactionDetails(request, response);
  const login = { accountId: String(params['login_hint']), acr: String(params['acr_values']) };
  await provider.interactionFinished(request, response, { login });
}

function configurationWith(key: JWK): Configuration {
  return {
    // The default one, but without a warning that it forgets everything.
    adapter: createMemoryAdapter(0) as AdapterConstructor,
    jwks: { keys: [key as never] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    acrValues: ['urn:low', 'urn:high'],
    clients: [
      {
        client_id: knownClient.id,
        redirect_uris: [knownClient.redirect],
        token_endpoint_auth_method: 'none',
      },
    ],
    interactions: { url: (_, interaction) => `/sign-in/${interaction.uid}` },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, audience) => ({
          scope: '',
          audience,
          accessTokenTTL: 300,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    ttl: { AccessToken: 300, Grant: 300, IdToken: 300, Interaction: 300, Session: 300 },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    // Nobody is asked for consent.
    async loadExistingGrant(context) {
      const { Grant } = context.oidc.provider;
      const grant = new Grant({
        clientId: context.oidc.client?.clientId,
        accountId: context.oidc.session?.accountId,
      } as never);
      grant.addOIDCScope('openid');
      await grant.save();
      return grant;
    },
    extraTokenClaims: (context, token) => ({
      acr: context.oidc.entities.AuthorizationCode?.acr,
      email: `${'accountId' in token ? token.accountId : 'nobody'}@example.com`,
      email_verified: true,
    }),
  };
}
