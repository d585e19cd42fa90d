import { createServer, type ServerResponse } from 'node:http';
import {
  CompactSign,
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { listenOnLoopback } from '../../../helpers/listen-on-loopback.ts';

/** How the server answers for its keys. */
export type Answer = (response: ServerResponse) => void;

/** An issuer on loopback that answers for its keys as a test wants, and counts how often it is asked. */
export class KeyServer {
  readonly issuer: string;
  /** How often each path was asked for. */
  readonly asked = { metadata: 0, keys: 0 };
  /** What it says of itself. */
  metadata: Answer;
  keys: Answer;
  readonly #keys = new Map<string, { alg: string; key: CryptoKey }>();
  readonly #published: JWK[] = [];

  constructor(issuer: string) {
    this.issuer = issuer;
    this.metadata = json({ issuer, jwks_uri: `${issuer}/keys` });
    this.keys = (response) => json({ keys: this.#published })(response);
  }

  /** Makes a key and publishes its public half, with more about it. */
  async addKey(kid: string, alg = 'ES256', more: object = {}): Promise<JWK> {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    const published = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig', ...more };
    this.#keys.set(kid, { alg, key: privateKey });
    this.#published.push(published);
    return published;
  }

  /** Signs claims with a key, on top of those every token has: an issuer, an audience, a user and an end. */
  async sign(claims: JWTPayload = {}, kid = 'k1', header: object = {}): Promise<string> {
    const made = this.#keys.get(kid);
    if (made === undefined) throw new Error(`no key ${kid}`);
    const exp = Math.floor(Date.now() / 1_000) + 300;
    const payload = { iss: this.issuer, aud: 'agent', sub: 'ann', exp, ...claims };
    const protectedHeader: JWTHeaderParameters = { alg: made.alg, kid, ...header };
    return new SignJWT(payload).setProtectedHeader(protectedHeader).sign(made.key);
  }

  /** Signs a string unchanged, with the first key. */
  async signText(text: string): Promise<string> {
    const made = this.#keys.get('k1');
    if (made === undefined) throw new Error('no key k1');
    const signing = new CompactSign(new TextEncoder().encode(text));
    return signing.setProtectedHeader({ alg: made.alg, kid: 'k1' }).sign(made.key);
  }
}

/** Answers with a JSON document. */
export function json(document: unknown, status = 200): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document));
  };
}

/** Starts a server with one key, `k1`, that is closed after the test. */
export async function startKeyServer(): Promise<KeyServer> {
  const server = createServer();
  const issuer = new KeyServer(await listenOnLoopback(server));
  server.on('request', ({ url }, response) => {
    const isMetadata = url === '/.well-known/openid-configuration';
    issuer.asked[isMetadata ? 'metadata' : 'keys'] += 1;
    issuer[isMetadata ? 'metadata' : 'keys'](response);
  });
  await issuer.addKey('k1');
  return issuer;
}
