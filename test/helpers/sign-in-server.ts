import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { type AdapterConstructor } from 'oidc-provider';
// @ts-expect-error The package has no types for it.
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js';
import { listenOnLoopback } from './listen-on-loopback.ts';

/** The program that signs in. */
export const clientId = 'holdpoint-test';

/** A provider of models at which a browser signs in: OAuth 2.1 with PKCE, on loopback. */
export interface SignInServer {
  issuer: string;
  /** Whether the person refuses. */
  refuses: boolean;
  /** Whether the person is asked on a page, with the links Allow and Refuse. */
  asks: boolean;
  /** The paths that were asked for by another than the browser. */
  asked: string[];
  /** Follows a browser from an address to the callback, and returns that address without opening it. */
  walk(url: string): Promise<string>;
}

/** Starts one that is closed after the test. */
export async function startSignInServer(): Promise<SignInServer> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const http = createServer();
  const issuer = await listenOnLoopback(http);
  const provider = new Provider(issuer, {
    adapter: createMemoryAdapter(0) as AdapterConstructor,
    jwks: {
      keys: [{ ...(await exportJWK(privateKey)), kid: 'k', alg: 'RS256', use: 'sig' } as never],
    },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    clients: [
      {
        ...{ client_id: clientId, application_type: 'native', token_endpoint_auth_method: 'none' },
        redirect_uris: ['http://127.0.0.1/oauth/callback'],
      },
    ],
    pkce: { required: () => true },
    interactions: { url: (_, { uid }) => `/person/${uid}` },
    features: { devInteractions: { enabled: false } },
    ttl: { AccessToken: 300, Grant: 300, IdToken: 300, Interaction: 300, Session: 300 },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId,
        accountId: oidc.session?.accountId,
      } as never);
      grant.addOIDCScope('openid');
      await grant.save();
      return grant;
    },
  });
  const server: SignInServer = { issuer, refuses: false, asks: false, asked: [], walk };
  const answer = provider.callback();
  const person = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, search } = new URL(request.url ?? '', issuer);
    if (server.asks && search === '') {
      response.setHeader('content-type', 'text/html');
      const links = ['Allow', 'Refuse'].map((word) => `<a href="${pathname}?${word}">${word}</a>`);
      response.end(`<!doctype html><title>May it?</title><link rel="icon" href="data:,">${links}`);
      return;
    }
    const refuses = server.asks ? search === '?Refuse' : server.refuses;
    const refusal = { error: 'access_denied', error_description: 'CANARY said no' };
    const result = refuses ? refusal : { login: { accountId: 'ann' }, consent: {} };
    await provider.interactionFinished(request, response, result);
  };
  http.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const url = request.url ?? '';
    if (request.headers['x-browser'] === undefined) server.asked.push(url);
    void (url.startsWith('/person/') ? person(request, response) : answer(request, response));
  });
  return server;
}

async function walk(start: string): Promise<string> {
  const cookies = new Map<string, string>();
  let url = start;
  for (let steps = 0; steps < 10; steps += 1) {
    if (new URL(url).pathname === '/oauth/callback') return url;
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { headers: { cookie, 'x-browser': '1' }, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const next = answer.headers.get('location');
    if (next === null) throw new Error(`no redirect: ${answer.status} ${await answer.text()}`);
    url = new URL(next, url).href;
  }
  throw new Error('the way to the callback does not end');
}
