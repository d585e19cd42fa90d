import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnLoopback } from './listen-on-loopback.ts';

/** A request to the token endpoint, with the client that it named. */
export type TokenRequest = Record<string, string>;

/** An issuer of OAuth tokens, whose refresh tokens count once. */
export class TokenIssuer {
  readonly issuer: string;
  /** The requests to its token endpoint. */
  readonly asked: TokenRequest[] = [];
  /** Paths of all requests. */
  readonly paths: string[] = [];
  /** Metadata that replace its own. */
  metadata: Record<string, unknown> = {};
  /** Seconds for which access tokens are valid. */
  lifetime = 3_600;
  /** Replaces the answer of the token endpoint. */
  instead: ((response: ServerResponse) => void) | null = null;
  #count = 0;
  readonly #codes = new Map<string, string>();
  readonly #refresh = new Set<string>();

  constructor(issuer: string) {
    this.issuer = issuer;
  }

  /** The access token that it gave last. */
  get latest(): string {
    return `access-${this.#count}`;
  }

  /** Signs a person in at an address that the agent made, and returns the query of the redirect. */
  signIn(address: string): string {
    const asked = new URL(address).searchParams;
    const code = `code-${this.#codes.size + 1}`;
    this.#codes.set(code, asked.get('code_challenge') ?? '');
    return String(new URLSearchParams({ code, state: asked.get('state') ?? '', iss: this.issuer }));
  }

  /** Answers a request for the issuer; returns false for any other. */
  answer({ url }: IncomingMessage, response: ServerResponse, body: string): boolean {
    const { pathname } = new URL(url ?? '/', this.issuer);
    this.paths.push(pathname);
    const send = (status: number, value: object): true => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
      return true;
    };
    if (pathname === '/.well-known/oauth-authorization-server') {
      return send(200, {
        issuer: this.issuer,
        authorization_endpoint: `${this.issuer}/authorize`,
        token_endpoint: `${this.issuer}/token`,
        registration_endpoint: `${this.issuer}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['client_secret_post', 'none'],
        authorization_response_iss_parameter_supported: true,
        ...this.metadata,
      });
    }
    if (pathname === '/register') {
      return send(201, { ...JSON.parse(body), client_id: 'registered' });
    }
    if (pathname !== '/token') return false;
    if (this.instead !== null) {
      this.instead(response);
      return true;
    }
    const asked = Object.fromEntries(new URLSearchParams(body));
    this.asked.push(asked);
    if (!this.#grants(asked)) return send(400, { error: 'invalid_grant' });
    this.#count += 1;
    const refresh = `refresh-${this.#count}`;
    this.#refresh.add(refresh);
    const isOfPerson = asked['grant_type'] !== 'client_credentials';
    return send(200, {
      access_token: this.latest,
      token_type: 'bearer',
      expires_in: this.lifetime,
      ...(isOfPerson ? { refresh_token: refresh } : {}),
    });
  }

  #grants(asked: TokenRequest): boolean {
    if (asked['grant_type'] === 'client_credentials') return true;
    if (asked['grant_type'] === 'refresh_token') {
      return this.#refresh.delete(asked['refresh_token'] ?? '');
    }
    const challenge = this.#codes.get(asked['code'] ?? '');
    this.#codes.delete(asked['code'] ?? '');
    const verifier = asked['code_verifier'] ?? '';
    return challenge === createHash('sha256').update(verifier).digest('base64url');
  }
}

/** Starts an issuer that is stopped after the test. */
export async function startTokenIssuer(): Promise<TokenIssuer> {
  const server = createServer();
  const issuer = new TokenIssuer(await listenOnLoopback(server));
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await request.toArray()).toString();
    if (!issuer.answer(request, response, body)) response.writeHead(404).end();
  };
  server.on('request', (request, response) => void serve(request, response));
  return issuer;
}
