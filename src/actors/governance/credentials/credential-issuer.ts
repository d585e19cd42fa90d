import type { CredentialProvider } from '../../../machines/governance/ruling.ts';
import type { JsonObject } from '../../../machines/json.ts';
import type { Log } from '../../ports/log.ts';
import { ToolMap } from '../../tool-name.ts';
import { type AssumeRolePorts, assumeRole } from './assume-role.ts';
import { findBaseIdentity, readAssumeRoleSpec } from './assume-role-spec.ts';
import { checkCredentials } from './check-credentials.ts';
import { type Credential, CredentialError, HeldCredential } from './credential.ts';
import { type CredentialEntry, type Environment, readVariable } from './credential-entry.ts';
import type { SpecReading } from './read-spec.ts';
import { missingSource, readStaticSpec, type StaticSpec } from './static-spec.ts';

/** A failed request to the token service; contains no text of the service. */
interface StsFailure {
  /** Worded to follow `the credential for <tool> could not be issued: `. */
  reason: string;
  /** The HTTP status if there was a response. */
  status: number | null;
}

/** Meanings of the service's error codes, worded for the operator. */
const meanings = new Map([
  ['AccessDenied', 'the role may not be assumed; check its trust policy and external_id'],
  ['InvalidClientTokenId', 'the access key is unknown; check its variable'],
  ['SignatureDoesNotMatch', 'the secret key is wrong; check the variable that holds it'],
  ['ExpiredToken', 'the identity that assumes the role has expired; renew it'],
  ['MalformedPolicyDocument', 'policy is not a policy document; fix it'],
  ['PackedPolicyTooLarge', 'policy is too large; shorten it'],
  ['RegionDisabled', 'the region is not enabled for the account; enable it or set region'],
  ['ValidationError', 'a value was not accepted; check duration, and the limits of the role'],
  ['Throttling', 'the token service is asked too often; try again later'],
]);

/** Converts an error of the service's client to our own words. */
export function describeStsFailure(error: unknown): StsFailure {
  if (error instanceof CredentialError) return { reason: error.message, status: null };
  const { name = '', $metadata, $response } = (error ?? {}) as Thrown;
  const status = $metadata?.httpStatusCode ?? $response?.statusCode ?? null;
  const meaning = meanings.get(name.replace(/Exception$/, ''));
  return { reason: meaning ?? withoutMeaning(status), status };
}

interface Thrown {
  name?: string;
  $metadata?: { httpStatusCode?: number };
  $response?: { statusCode?: number };
}

function withoutMeaning(status: number | null): string {
  if (status === null) return 'the token service could not be reached; check region and endpoint';
  if (status >= 500) return 'the token service failed; try again later';
  if (status >= 300) return `the token service refused the request (HTTP ${status})`;
  return 'the answer of the token service could not be read; check endpoint';
}

export interface IssuerPorts extends AssumeRolePorts {
  env: Environment;
  log: Log;
}

/** The call for which a credential is issued. */
export interface CredentialRequest {
  tool: string;
  taskId: string;
  callId: string;
  signal: AbortSignal;
}

/**
 * Issues the credentials configured under `credentials` in `service.yaml` (docs/contract/configuration.md,
 * docs/contract/governance.md).
 */
export interface CredentialIssuer {
  /** Returns the provider of a tool's credential; `null` if the tool gets none. */
  providerOf(tool: string): CredentialProvider | null;
  /** Returns the provider settings of a tool, without secrets; omitted by an issuer without settings. */
  specOf?(tool: string): JsonObject | null;
  /**
   * Issues a credential for one call, which must not run without it. Rejects only with a CredentialError, also for a
   * tool without a credential.
   */
  issue(request: CredentialRequest): Promise<Credential>;
}

/** Creates the credential of one kind of entry. */
type Make = (request: CredentialRequest) => Promise<Credential>;

/** Creates an issuer from validated entries. Throws a CredentialError if `checkCredentials` reports an error. */
export function createCredentialIssuer(
  entries: readonly CredentialEntry[],
  ports: IssuerPorts,
): CredentialIssuer {
  const flaw = checkCredentials(entries, ports.env).find(({ severity }) => severity === 'error');
  if (flaw) throw new CredentialError(`credentials.${flaw.path.join('.')}: ${flaw.message}`);
  const makers = new ToolMap(
    entries.map((entry) => [entry.tool, { ...entry, make: makerOf(entry, ports) }]),
  );
  return {
    providerOf: (tool) => makers.get(tool)?.provider ?? null,
    specOf: (tool) => makers.get(tool)?.spec ?? null,
    async issue(request) {
      const { tool, taskId, callId, signal } = request;
      const maker = makers.get(tool);
      if (!maker) throw new CredentialError(`no credential is configured for ${tool}; add one`);
      try {
        if (signal.aborted) throw new CredentialError('the task was stopped');
        return await maker.make(request);
      } catch (error) {
        const { reason, status } = describeStsFailure(error);
        const { provider } = maker;
        const fields = { tool, provider, task_id: taskId, call_id: callId, reason, status };
        if (!signal.aborted) ports.log.warn(fields, 'credential: could not be issued');
        throw new CredentialError(`the credential for ${tool} could not be issued: ${reason}`);
      }
    },
  };
}

function makerOf({ provider, spec }: CredentialEntry, ports: IssuerPorts): Make {
  switch (provider) {
    case 'static': {
      const variables = required(readStaticSpec(spec));
      return async () => staticCredential(variables, ports.env);
    }
    case 'sts_assume_role': {
      const role = required(readAssumeRoleSpec(spec));
      return (request) =>
        assumeRole(role, required(findBaseIdentity(role, ports.env)), request, ports);
    }
  }
}

function staticCredential(variables: StaticSpec, env: Environment): Credential {
  const values = variables.map((variable) => {
    const value = readVariable(env, variable.from);
    if (value === null) throw new CredentialError(missingSource(variable));
    return [variable.name, value] as const;
  });
  return new HeldCredential('static', null, Object.fromEntries(values));
}

function required<T>(reading: SpecReading<T>): T {
  if (reading.ok) return reading.spec;
  const [finding] = reading.findings;
  throw new CredentialError(finding?.message ?? 'its entry cannot be read; fix credentials');
}
