import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  type ServerMetadata,
} from 'openid-client';
import { collectBytes } from '../collect-bytes.ts';
import type { Outbound } from '../ports/egress.ts';

/** A client at an issuer. */
export interface IssuerSettings {
  issuer: string;
  clientId: string;
  /** `null` for a public client. */
  clientSecret: string | null;
  /** Path of these settings in their file, for reports. */
  setting: string;
  /** Allowed clock skew, in milliseconds. */
  skew?: number;
  /** True if the signatures of ID tokens are checked. */
  checksSignatures?: boolean;
  /** True to read the metadata of OAuth (RFC 8414) before those of OpenID Connect. */
  isOAuth?: boolean;
}

type IssuerEgress = Pick<Outbound, 'fetch' | 'discovered'>;

/** Timeout of a request to an issuer, in seconds. */
const patience = 10;

const largest = 256 * 1024;

/** Reads the metadata of an issuer. Rejects if they are unavailable, or name another issuer or an unsafe endpoint. */
export async function discoverIssuer(
  settings: IssuerSettings,
  outbound: IssuerEgress | undefined,
): Promise<Configuration> {
  if (settings.isOAuth !== true) return discoverBy('oidc', settings, outbound);
  try {
    return await discoverBy('oauth2', settings, outbound);
  } catch (error) {
    return await discoverBy('oidc', settings, outbound).catch(() => Promise.reject(error));
  }
}

async function discoverBy(
  algorithm: 'oauth2' | 'oidc',
  settings: IssuerSettings,
  outbound: IssuerEgress | undefined,
): Promise<Configuration> {
  const { issuer, clientId, clientSecret, skew = 0, checksSignatures = false } = settings;
  const isLocal = issuer.startsWith('http:');
  const configuration = await discovery(
    new URL(issuer),
    clientId,
    { [clockTolerance]: Math.ceil(skew / 1_000) },
    clientAuth(clientSecret),
    {
      algorithm,
      [customFetch]: issuerFetch(outbound),
      timeout: patience,
      execute: [
        ...(checksSignatures ? [enableNonRepudiationChecks] : []),
        ...(isLocal ? [allowInsecureRequests] : []),
      ],
    },
  );
  checkEndpoints(configuration.serverMetadata(), settings, outbound);
  return configuration;
}

/** An issuer may have endpoints on other hosts. These are reported as discovered, since the operator has not named them. */
function checkEndpoints(
  metadata: ServerMetadata,
  { issuer, setting, isOAuth = false }: IssuerSettings,
  outbound: IssuerEgress | undefined,
): void {
  const { origin } = new URL(issuer);
  // The library compares the issuer of OAuth metadata as a URL; people's tokens name it character by character.
  if (!isOAuth && metadata.issuer !== issuer) throw new Error('the metadata names another issuer');
  const called = [
    ...[metadata.token_endpoint, metadata.jwks_uri, metadata.userinfo_endpoint],
    isOAuth ? metadata.registration_endpoint : undefined,
  ];
  const opened = [metadata.authorization_endpoint, metadata.end_session_endpoint];
  for (const [index, text] of [...called, ...opened].entries()) {
    if (text === undefined) continue;
    const url = new URL(text);
    if (url.origin === origin) continue;
    if (url.protocol !== 'https:')
      throw new Error('the metadata names an endpoint that is not https');
    if (index >= called.length) continue;
    const port = Number(url.port === '' ? 443 : url.port);
    outbound?.discovered?.({ host: url.hostname, port, source: `${setting} (discovered)` });
  }
}

/** Returns a fetch to issuers: it follows no redirects, and limits the size and the time of an answer. */
export function issuerFetch(outbound: IssuerEgress | undefined) {
  return async (url: string, options: object): Promise<Response> => {
    const fetchIt = outbound?.fetch ?? globalThis.fetch;
    // The library sets a signal of its own.
    const limited = { signal: AbortSignal.timeout(patience * 1_000), ...options };
    const { status, headers, body } = await fetchIt(url, { ...limited, redirect: 'manual' });
    const tooLong = () => new Error('the issuer answered more than 256 KiB');
    const bytes = await collectBytes(body, largest, tooLong);
    return new Response(bytes.length === 0 ? null : bytes, { status, headers });
  };
}

/** Sends the secret in the body, unless the issuer accepts it only in a header. */
function clientAuth(secret: string | null): ClientAuth {
  if (secret === null) return None();
  const [inBody, inHeader] = [ClientSecretPost(secret), ClientSecretBasic(secret)];
  return (server, ...others) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_post') ? inBody : inHeader)(server, ...others);
  };
}
