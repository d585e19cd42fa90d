import type { AssumeRoleCommandInput, STSClientConfig } from '@aws-sdk/client-sts';
import type { Clock } from '../../ports/clock.ts';
import type { Outbound } from '../../ports/egress.ts';
import type { AssumeRoleSpec, BaseIdentity } from './assume-role-spec.ts';
import { CredentialError, HeldCredential } from './credential.ts';

/** Timeout for a request and its retry together, in milliseconds. */
const timeout = 10_000;

const longestSessionName = 64;

export interface AssumeRolePorts {
  clock: Clock;
  /** Egress for requests to the token service; direct when absent. */
  outbound?: Outbound;
  /** Request transport; created from `outbound` when absent. */
  requestHandler?: StsRequestHandler;
}

/**
 * Assumes a role for one call and resolves with a credential of AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
 * AWS_SESSION_TOKEN. Takes at most 10 s, with one retry. Rejects with a CredentialError, or with an error of the
 * client, which must not be displayed.
 */
export async function assumeRole(
  spec: AssumeRoleSpec,
  identity: BaseIdentity,
  { callId, signal }: { callId: string; signal: AbortSignal },
  { clock, outbound, requestHandler }: AssumeRolePorts,
): Promise<HeldCredential> {
  const answer = await withinTime(clock, signal, async (abortSignal) => {
    const handler = requestHandler ?? (await stsRequestHandler(outbound?.fetch));
    return request(clientConfig(spec, identity, handler), inputOf(spec, callId), abortSignal);
  });
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = answer ?? {};
  const expiresAt = Expiration?.getTime() ?? Number.NaN;
  if (!AccessKeyId || !SecretAccessKey || !SessionToken || Number.isNaN(expiresAt)) {
    throw new CredentialError('the answer of the token service has no complete credential');
  }
  const ttl = expiresAt - clock.now();
  if (ttl <= 0) {
    throw new CredentialError('the token service issued an expired credential; check the clock');
  }
  return new HeldCredential('sts_assume_role', ttl, {
    AWS_ACCESS_KEY_ID: AccessKeyId,
    AWS_SECRET_ACCESS_KEY: SecretAccessKey,
    AWS_SESSION_TOKEN: SessionToken,
  });
}

async function request(
  config: STSClientConfig,
  input: AssumeRoleCommandInput,
  abortSignal: AbortSignal,
) {
  const { STSClient, AssumeRoleCommand } = await import('@aws-sdk/client-sts');
  const client = new STSClient(config);
  const { Credentials } = await client.send(new AssumeRoleCommand(input), { abortSignal });
  return Credentials;
}

/** Sets every option that the client would otherwise look up in the environment, in files or on the network. */
function clientConfig(
  { endpoint }: AssumeRoleSpec,
  { accessKeyId, secretAccessKey, sessionToken, region }: BaseIdentity,
  requestHandler: StsRequestHandler,
): STSClientConfig {
  return {
    region,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) },
    ...(endpoint !== undefined && { endpoint }),
    requestHandler,
    ignoreConfiguredEndpointUrls: true,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    authSchemePreference: ['sigv4'],
    sigv4aSigningRegionSet: [],
    userAgentAppId: '',
    disableClockSkewCorrection: false,
    defaultsMode: 'standard',
    retryMode: 'standard',
    maxAttempts: 2,
  };
}

function inputOf(spec: AssumeRoleSpec, callId: string): AssumeRoleCommandInput {
  const { role_arn, session_name, duration, external_id, policy } = spec;
  return {
    RoleArn: role_arn,
    RoleSessionName: session_name ?? sessionNameOf(callId),
    DurationSeconds: Math.floor(duration / 1_000),
    ...(external_id !== undefined && { ExternalId: external_id }),
    ...(policy !== undefined && { Policy: policy }),
  };
}

function sessionNameOf(callId: string): string {
  return `holdpoint-${callId.replace(/[^\w+=,.@-]/g, '-')}`.slice(0, longestSessionName);
}

/** Settles when the time is up or `signal` aborts (it must not be aborted yet), even if the client does not react. */
async function withinTime<T>(
  clock: Clock,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = Promise.withResolvers<never>();
  const aborter = new AbortController();
  const end = (message: string) => {
    ended.reject(new CredentialError(message));
    aborter.abort();
  };
  const stop = () => end('the task was stopped');
  const timer = clock.setTimeout(() => end('the token service took too long'), timeout);
  signal.addEventListener('abort', stop);
  try {
    return await Promise.race([ended.promise, run(aborter.signal)]);
  } finally {
    clock.clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

type StsRequestHandler = Extract<
  NonNullable<STSClientConfig['requestHandler']>,
  { handle: unknown }
>;

/**
 * Creates a request transport that uses a fetch instead of the client's own sockets. Redirects are not followed: the
 * request is signed for one host.
 */
async function stsRequestHandler(
  fetchIt: typeof globalThis.fetch = globalThis.fetch,
): Promise<StsRequestHandler> {
  const { FetchHttpHandler } = await import('@smithy/fetch-http-handler');
  return new FetchHttpHandler({
    customFetch: async (input) => {
      // Copied field by field, since a fetch may not accept another package's Request; the body is short text.
      const request = input as Request;
      const { url, method, headers, signal } = request;
      const body = await request.text();
      return fetchIt(url, { method, headers, signal, body, redirect: 'manual' });
    },
  });
}
