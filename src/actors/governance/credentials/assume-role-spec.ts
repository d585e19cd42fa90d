import * as z from 'zod';
import { parseDuration } from '../../../machines/duration.ts';
import { isJsonObject, type JsonObject } from '../../../machines/json.ts';
import { isLoopbackUrl } from '../../../machines/loopback.ts';
import { type CredentialFinding, type Environment, readVariable } from './credential-entry.ts';
import { knownKeys, readSpec, type SpecReading, variableName } from './read-spec.ts';

const minute = 60_000;
const shortest = 15 * minute;
const longest = 12 * 60 * minute;

const largestPolicy = 2048;

const roleArn = z
  .string()
  .max(2048, { error: 'the ARN of a role has at most 2048 characters' })
  .regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/, {
    error: 'this must be the ARN of a role, such as arn:aws:iam::123456789012:role/refunds',
  });

const sessionName = z.string().regex(/^[\w+=,.@-]{2,64}$/, {
  error: 'a session name is 2 to 64 letters, digits and the characters _+=,.@-',
});

const externalId = z.string().regex(/^[\w+=,.@:/-]{2,1224}$/, {
  error: 'an external id is 2 to 1224 letters, digits and the characters _+=,.@:/-',
});

/** A region becomes part of a host name. */
const regionName = /^[a-z]{2,}(?:-[a-z]+)+-\d{1,2}$/;

const lifetime = z.string().transform((text, context) => {
  try {
    const milliseconds = parseDuration(text);
    if (milliseconds >= shortest && milliseconds <= longest) return milliseconds;
  } catch {
    // Not a duration at all; reported with the same message.
  }
  context.addIssue('this must be a duration from 15m to 12h');
  return z.NEVER;
});

const policyDocument = z
  .custom<JsonObject>(isJsonObject, { error: 'this must be a map of keys and values' })
  .transform((policy) => JSON.stringify(policy))
  .refine((text) => text.length <= largestPolicy, {
    error: `as JSON the policy must be at most ${largestPolicy} characters; shorten it`,
  });

const endpointUrl = z.string().refine(isAcceptableEndpoint, {
  error: 'this must be an https URL without a user and a query, or an http URL on loopback',
});

function isAcceptableEndpoint(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.username !== '' || url.password !== '' || /[?#]/.test(text)) return false;
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && isLoopbackUrl(url);
}

const assumeRoleSchema = knownKeys({
  role_arn: roleArn,
  session_name: sessionName.optional(),
  duration: lifetime.prefault('15m'),
  external_id: externalId.optional(),
  policy: policyDocument.optional(),
  region: z
    .string()
    .regex(regionName, { error: 'this must be the name of a region, such as eu-central-1' })
    .optional(),
  endpoint: endpointUrl.optional(),
  access_key_env: variableName.optional(),
  secret_key_env: variableName.optional(),
  session_token_env: variableName.optional(),
});

/** A parsed `sts_assume_role` spec; `duration` in milliseconds, `policy` as JSON text. */
export type AssumeRoleSpec = z.output<typeof assumeRoleSchema>;

/** Parses the spec of an `sts_assume_role` credential (docs/contract/configuration.md). */
export function readAssumeRoleSpec(spec: JsonObject): SpecReading<AssumeRoleSpec> {
  return readSpec(assumeRoleSchema, spec);
}

/** The identity that assumes the role, and its token service endpoint. */
export interface BaseIdentity {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | null;
  region: string;
}

/**
 * Resolves the base identity of a role from the environment, or reports what is missing; paths are relative to the
 * spec.
 *
 * Reads only variables, never files or the machine's metadata address. AWS_SESSION_TOKEN is used only with the two
 * default key variables, since it belongs to that identity.
 */
export function findBaseIdentity(
  spec: AssumeRoleSpec,
  env: Environment,
): SpecReading<BaseIdentity> {
  const findings: CredentialFinding[] = [];
  const read = (key: 'access_key_env' | 'secret_key_env' | 'session_token_env', usual: string) => {
    const variable = spec[key] ?? usual;
    const value = readVariable(env, variable);
    const message = `the environment variable ${variable} is not set; it must belong to the identity that assumes the role`;
    if (value === null) findings.push({ path: [key], message, severity: 'error' });
    return value ?? '';
  };
  const accessKeyId = read('access_key_env', 'AWS_ACCESS_KEY_ID');
  const secretAccessKey = read('secret_key_env', 'AWS_SECRET_ACCESS_KEY');
  const sessionToken = spec.session_token_env
    ? read('session_token_env', spec.session_token_env)
    : usualToken(spec, env);
  const region = regionOf(spec, env);
  if (!regionName.test(region)) {
    const message =
      'AWS_REGION or AWS_DEFAULT_REGION does not name a region; fix it, or add region';
    findings.push({ path: ['region'], message, severity: 'error' });
  }
  if (findings.length > 0) return { ok: false, findings };
  return { ok: true, spec: { accessKeyId, secretAccessKey, sessionToken, region } };
}

function usualToken(spec: AssumeRoleSpec, env: Environment): string | null {
  const isUsual = spec.access_key_env === undefined && spec.secret_key_env === undefined;
  return isUsual ? readVariable(env, 'AWS_SESSION_TOKEN') : null;
}

/** Returns the region of the token service. */
export function regionOf({ region }: Pick<AssumeRoleSpec, 'region'>, env: Environment): string {
  const usual = readVariable(env, 'AWS_REGION') ?? readVariable(env, 'AWS_DEFAULT_REGION');
  return region ?? usual ?? 'us-east-1';
}
