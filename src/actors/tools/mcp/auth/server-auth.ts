import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  clientCredentialsGrant,
  ResponseBodyError,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
  type ServerMetadata,
  type TokenEndpointResponse,
} from 'openid-client';
import * as z from 'zod';
import { parseJson } from '../../../../machines/json.ts';
import { commandLine } from '../../../command-line.ts';
import { discoverIssuer, issuerFetch } from '../../../oauth/oauth.ts';
import { EgressError, egressCause } from '../../../outbound/outbound.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Outbound } from '../../../ports/egress.ts';
import { quoteOf, ServerFault } from '../server-fault.ts';
import type { ServerAuthSettings } from './auth-settings.ts';
import { type ResourceMetadata, readResourceMetadata } from './resource-metadata.ts';
import type { ServerTokens, TokenVault } from './token-vault.ts';

/** The server that an agent signs in to. */
export interface AuthServer {
  name: string;
  url: string;
  auth: ServerAuthSettings;
  /** Path of the settings in `service.yaml`. */
  setting: string;
}

export interface ServerAuthPorts {
  /** Egress of the daemon itself. */
  outbound: Pick<Outbound, 'fetch' | 'discovered'>;
  vault: TokenVault;
  clock: Clock;
}

type Client = Pick<ServerTokens, 'clientId' | 'clientSecret'>;

const registration = z.object({
  client_id: z.string().min(1).max(2_000),
  client_secret: z.string().max(2_000).optional(),
});

/** A sign-in that waits for its redirect. */
interface Login {
  configuration: Configuration;
  verifier: string;
  redirectUri: string;
  /** Epoch milliseconds. */
  until: number;
  /** The client of a registration at this sign-in. */
  registered: Client;
}

/** Time for a sign-in in the browser, in milliseconds, and maximum number of them at once. */
const logins = { time: 600_000, most: 8 };

/** Maximum number of earlier credentials that are removed from the texts of the server. */
const mostFormer = 8;

/** A person must act, and no request was run. */
const lasting = { isLasting: true, isUnsent: true };

/** Stands for the client until it is registered. */
const unregistered = 'unregistered';

/** Time before its end at which a token is renewed, in milliseconds; at most half of its lifetime. */
const margin = 60_000;

/**
 * The agent's access to one MCP server by OAuth: obtains, stores and renews its tokens. Every error is a ServerFault
 * without a token or secret.
 */
export class ServerAuth {
  readonly #server: AuthServer;
  readonly #ports: ServerAuthPorts;
  readonly #logins = new Map<string, Login>();
  #tokens: ServerTokens | null = null;
  /** Credentials of earlier tokens, which the server may still quote. */
  #former: readonly string[] = [];
  #renewing: Promise<ServerTokens> | null = null;
  /** The address of the metadata that the server's last refusal named. */
  #metadataUrl: string | null = null;

  constructor(server: AuthServer, ports: ServerAuthPorts) {
    this.#server = server;
    this.#ports = ports;
  }

  /** Credentials that must not appear in any output. */
  get secrets(): readonly string[] {
    const { client_secret: secret } = this.#server.auth;
    return [...secretsOf(this.#tokens), ...this.#former, ...(secret === undefined ? [] : [secret])];
  }

  /** Returns the access token of the next request, renewed before its end. Rejects with ServerFault. */
  async token(): Promise<string> {
    const tokens = this.#tokens ?? (await this.#stored());
    const isDue = tokens !== null && this.#isDue(tokens);
    if (tokens !== null && !isDue) return tokens.access;
    // A token that cannot be renewed is used to its end.
    if (isDue && !this.#canRenew(tokens)) return tokens.access;
    return (await this.#renew(tokens)).access;
  }

  /**
   * Handles a 401 for a token, with the challenge of the server. Returns the token of one more attempt; `null` if there
   * is none. Rejects with ServerFault.
   */
  async refused(token: string, challenge: string | null): Promise<string | null> {
    this.#metadataUrl = /\bresource_metadata="([^"\s]{1,2000})"/.exec(challenge ?? '')?.[1] ?? null;
    if (this.#tokens !== null && this.#tokens.access !== token) return this.#tokens.access;
    const stored = await this.#stored();
    if (stored !== null && stored.access !== token) return stored.access;
    if (!this.#canRenew(stored)) throw this.#needsLogin();
    const { access } = await this.#renew(stored);
    return access === token ? null : access;
  }

  /** Starts a sign-in in a browser and returns its address. Rejects with ServerFault. */
  async startLogin(redirectUri: string): Promise<string> {
    return this.#guarded(async () => {
      const { configuration, scopes, registered } = await this.#loginClient(redirectUri);
      const methods = configuration.serverMetadata().code_challenge_methods_supported ?? [];
      if (!methods.includes('S256')) {
        throw new ServerFault('has an issuer without PKCE (S256)', lasting);
      }
      const [state, verifier] = [randomState(), randomPKCECodeVerifier()];
      const url = buildAuthorizationUrl(configuration, {
        ...this.#parameters(scopes),
        redirect_uri: redirectUri,
        state,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      const now = this.#ports.clock.now();
      for (const [old, { until }] of this.#logins) {
        if (until <= now || this.#logins.size >= logins.most) this.#logins.delete(old);
      }
      const until = now + logins.time;
      this.#logins.set(state, { configuration, verifier, redirectUri, until, registered });
      return url.href;
    });
  }

  /** Ends a sign-in with the query of its redirect, and stores the tokens. Rejects with ServerFault. */
  async finishLogin(query: string): Promise<{ issuer: string }> {
    const state = new URLSearchParams(query).get('state') ?? '';
    const login = this.#logins.get(state);
    this.#logins.delete(state);
    if (login === undefined || login.until <= this.#ports.clock.now()) {
      throw new ServerFault('has no such sign-in under way; start it again');
    }
    return this.#guarded(async () => {
      const callback = new URL(login.redirectUri);
      callback.search = query;
      const { resource } = this.#parameters([]);
      const answer = await authorizationCodeGrant(
        login.configuration,
        callback,
        { pkceCodeVerifier: login.verifier, expectedState: state },
        { resource },
      );
      const tokens = this.#tokensOf(answer, login.configuration, login.registered);
      await this.#save(tokens);
      return { issuer: tokens.issuer };
    });
  }

  /** Deletes the tokens, and returns whether there were any. */
  async logout(): Promise<boolean> {
    this.#keep(null);
    return this.#ports.vault.forget(this.#server.name);
  }

  async #stored(): Promise<ServerTokens | null> {
    const stored = await this.#ports.vault.read(this.#server.name);
    return this.#keep(stored !== null && this.#isOwn(stored) ? stored : null);
  }

  /** The issuer may have ended the tokens before these, so they are kept even if the store cannot be written. */
  async #save(tokens: ServerTokens): Promise<void> {
    this.#keep(tokens);
    await this.#ports.vault.write(this.#server.name, tokens);
  }

  #keep(tokens: ServerTokens | null): ServerTokens | null {
    const known = [...secretsOf(this.#tokens), ...this.#former];
    const now = secretsOf(tokens);
    this.#former = known.filter((secret) => !now.includes(secret)).slice(0, mostFormer);
    this.#tokens = tokens;
    return tokens;
  }

  /** Tokens of other settings, such as those of the server's former address, are not sent. */
  #isOwn({ resource, issuer, clientId }: ServerTokens): boolean {
    const { auth } = this.#server;
    return (
      resource === this.#parameters([]).resource &&
      (auth.issuer ?? issuer) === issuer &&
      (auth.client_id ?? clientId) === clientId
    );
  }

  #isDue({ renewAt }: ServerTokens): boolean {
    return renewAt !== null && renewAt <= this.#ports.clock.now();
  }

  #canRenew(tokens: ServerTokens | null): boolean {
    return this.#server.auth.type === 'client_credentials' || tokens?.refresh !== undefined;
  }

  #renew(known: ServerTokens | null): Promise<ServerTokens> {
    this.#renewing ??= this.#renewOnce(known).finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  /** Another daemon may have renewed the tokens meanwhile. */
  async #renewOnce(known: ServerTokens | null): Promise<ServerTokens> {
    const { name } = this.#server;
    const { vault } = this.#ports;
    return vault.exclusively(name, async () => {
      const stored = await this.#stored();
      const isNews = stored !== null && stored.access !== known?.access && !this.#isDue(stored);
      if (isNews) return stored;
      if (!this.#canRenew(stored)) throw this.#needsLogin();
      const tokens = await this.#guarded(() => this.#request(stored));
      await this.#save(tokens);
      return tokens;
    });
  }

  async #request(stored: ServerTokens | null): Promise<ServerTokens> {
    const { type } = this.#server.auth;
    if (type === 'client_credentials') {
      const { issuer, scopes } = await this.#issuer(stored);
      const configuration = await this.#configuration(issuer);
      const answer = await clientCredentialsGrant(configuration, this.#parameters(scopes));
      return this.#tokensOf(answer, configuration, this.#client());
    }
    if (stored?.refresh === undefined) throw this.#needsLogin();
    const { issuer, clientId, clientSecret } = stored;
    const client = { clientId, ...(clientSecret === undefined ? {} : { clientSecret }) };
    const configuration = await this.#configuration(issuer, client);
    const { resource } = this.#parameters([]);
    const answer = await refreshTokenGrant(configuration, stored.refresh, { resource });
    return { refresh: stored.refresh, ...this.#tokensOf(answer, configuration, client) };
  }

  /** The first issuer that a server names is trusted; another one later never receives a secret or token. */
  async #issuer(stored: ServerTokens | null): Promise<ResourceMetadata> {
    const { auth, url } = this.#server;
    if (auth.issuer !== undefined) return { issuer: auth.issuer, scopes: [] };
    const fetchIt = issuerFetch(this.#ports.outbound);
    const found = await readResourceMetadata(new URL(url), this.#metadataUrl, fetchIt);
    if (stored !== null && new URL(stored.issuer).href !== new URL(found.issuer).href) {
      const command = commandLine(`mcp logout ${this.#server.name}`);
      const message = `names another issuer than before; if that is right, run \`${command}\``;
      throw new ServerFault(message, lasting);
    }
    this.#open(found.issuer);
    return found;
  }

  /** Opens the host of an issuer that the server named to the daemon; its address must be public. */
  #open(issuer: string): void {
    const { url, setting } = this.#server;
    const { hostname, port, protocol, origin } = new URL(issuer);
    if (origin === new URL(url).origin) return;
    const usual = protocol === 'https:' ? 443 : 80;
    const place = { host: hostname, port: port === '' ? usual : Number(port) };
    this.#ports.outbound.discovered?.({ ...place, source: `${setting} (discovered)` });
  }

  #client(): Client {
    return { clientId: this.#server.auth.client_id ?? unregistered };
  }

  #configuration(issuer: string, client = this.#client()): Promise<Configuration> {
    const { auth, setting } = this.#server;
    if (auth.issuer === undefined) this.#open(issuer);
    const clientSecret = client.clientSecret ?? auth.client_secret ?? null;
    const settings = { issuer, clientId: client.clientId, clientSecret, setting };
    return discoverIssuer({ ...settings, isOAuth: true }, this.#ports.outbound);
  }

  /** Returns the client of a sign-in; one without a configured id is registered for it. */
  async #loginClient(redirectUri: string) {
    const { issuer, scopes } = await this.#issuer(this.#tokens ?? (await this.#stored()));
    const { client_id: clientId } = this.#server.auth;
    if (clientId !== undefined) {
      const configuration = await this.#configuration(issuer);
      return { configuration, scopes, registered: this.#client() };
    }
    const known = await this.#configuration(issuer);
    const registered = await this.#register(known.serverMetadata(), redirectUri);
    return { configuration: await this.#configuration(issuer, registered), scopes, registered };
  }

  /** Registers a public client (RFC 7591). */
  async #register(
    { registration_endpoint: endpoint }: ServerMetadata,
    redirectUri: string,
  ): Promise<Client> {
    if (endpoint === undefined) {
      const message =
        'has an issuer that registers no clients; register one there, and write client_id';
      throw new ServerFault(message, lasting);
    }
    const response = await issuerFetch(this.#ports.outbound)(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'Holdpoint',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      }),
    });
    const { data } = registration.safeParse(parseJson(await response.text()));
    if (data === undefined) {
      throw new ServerFault('has an issuer that refuses to register the agent', lasting);
    }
    const { client_id: clientId, client_secret: clientSecret } = data;
    return { clientId, ...(clientSecret === undefined ? {} : { clientSecret }) };
  }

  #parameters(offered: readonly string[]): { resource: string; scope?: string } {
    const { auth, url } = this.#server;
    const scopes = auth.scopes.length > 0 ? auth.scopes : offered;
    return {
      resource: auth.resource ?? url,
      ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    };
  }

  #tokensOf(
    { access_token: access, refresh_token: refresh, expires_in: seconds }: TokenEndpointResponse,
    configuration: Configuration,
    client: Client,
  ): ServerTokens {
    const lifetime = seconds === undefined ? null : seconds * 1_000;
    const now = this.#ports.clock.now();
    return {
      ...{ issuer: this.#server.auth.issuer ?? configuration.serverMetadata().issuer },
      ...{ ...client, access, resource: this.#parameters([]).resource },
      ...(refresh === undefined ? {} : { refresh }),
      renewAt: lifetime === null ? null : now + Math.max(lifetime - margin, lifetime / 2),
    };
  }

  #needsLogin(): ServerFault {
    const command = commandLine(`mcp login ${this.#server.name}`);
    return new ServerFault(`needs a sign-in; run \`${command}\``, lasting);
  }

  /** Converts every error of a library to a ServerFault, which quotes only the error code of the issuer. */
  async #guarded<Result>(run: () => Promise<Result>): Promise<Result> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof ServerFault) throw error;
      const refusal = egressCause(error);
      if (refusal !== null) {
        const isLasting = refusal instanceof EgressError;
        const message = `has an issuer that cannot be asked (${refusal.message})`;
        throw new ServerFault(message, { isLasting, isUnsent: true });
      }
      const code = refusalOf(error);
      if (code === 'invalid_grant' && this.#server.auth.type === 'authorization_code') {
        throw this.#needsLogin();
      }
      const why = code === null ? '' : ` (${quoteOf(code)})`;
      const message = `got no token from its issuer${why}; check its auth in service.yaml`;
      throw new ServerFault(message, { isLasting: code !== null, isUnsent: true });
    }
  }
}

function secretsOf(tokens: ServerTokens | null): string[] {
  const { access, refresh, clientSecret } = tokens ?? {};
  return [access, refresh, clientSecret].filter((secret) => secret !== undefined);
}

/** Returns the error code of an issuer's answer; `null` for any other error. */
function refusalOf(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ResponseBodyError) return cause.error;
  }
  return null;
}
