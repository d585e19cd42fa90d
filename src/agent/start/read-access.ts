import {
  type AdmissionSettings,
  AdmissionSettingsError,
  admissionFromEnvironment,
} from '../../actors/access/access.ts';
import type { ServiceConfig } from '../../actors/config/config.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { RateLimits } from '../../actors/ports/rate-limits.ts';
import { RateLimitError, resolveRateLimit } from '../../actors/rate-limit.ts';
import type { Skill } from '../../actors/tools/tools.ts';
import type { JsonValue } from '../../machines/json.ts';
import { isLoopback } from '../../machines/loopback.ts';
import { namedVariables, usualVariables } from './agent-capture.ts';

/** The sources of secrets with which the token of the metrics is compared. */
interface MetricsTokenParts {
  config: ServiceConfig;
  skills: readonly Skill[];
  env: Readonly<Record<string, string | undefined>>;
}

/** The token of the metrics also opens something else. The message names the remedy. */
class SharedTokenError extends Error {}

/**
 * Returns the token of `server.metrics`; `null` without one. Throws SharedTokenError if the token is another secret of
 * the agent, or if a script receives it.
 */
function metricsToken({ config, skills, env }: MetricsTokenParts): string | null {
  const { metrics, ...server } = config.server;
  if (metrics === undefined) return null;
  const { token_env: variable } = metrics;
  const token = env[variable] ?? '';
  const isGiven = skills.some(({ tools }) =>
    tools.some(({ environment }) => environment.includes(variable)),
  );
  if (isGiven) {
    throw new SharedTokenError(
      `the scripts of a skill receive ${variable}, the token of server.metrics; use another variable for one of the two`,
    );
  }
  const others = { ...config, server } as unknown as JsonValue;
  const rival = [...usualVariables, ...namedVariables(others)].find((name) => env[name] === token);
  // A header such as `Bearer ${TOKEN}` contains it.
  const written = JSON.stringify(token).slice(1, -1);
  if (rival !== undefined || JSON.stringify(others).includes(written)) {
    const place = rival === undefined ? 'in service.yaml' : `in ${rival}`;
    throw new SharedTokenError(
      `the token of server.metrics in ${variable} is also another secret ${place}; create a token that opens the metrics alone`,
    );
  }
  return token;
}

/** The agent may not be started with these settings. The message names the remedy. */
export class StartError extends Error {
  readonly code = 'cannot_start';
}

/** Authentication, rate limits and admission. */
export interface AccessSettings {
  /** True if callers must authenticate. */
  isAuthOn: boolean;
  limits: RateLimits;
  /** Connection to the admission platform; `null` if admission is off. */
  admission: AdmissionSettings | null;
  /** The token that opens `GET /metrics` alone; `null` for none. */
  metricsToken: string | null;
}

/** Flags and environment that control access to the agent. */
export interface AccessOptions {
  host: string;
  noAuth: boolean;
  rateLimit?: Partial<RateLimits>;
  env: NodeJS.ProcessEnv;
  log: Log;
}

/** Resolves access to the agent. Throws StartError for settings that would leave the agent open or cannot be read. */
export function readAccess(
  config: ServiceConfig,
  options: AccessOptions & { skills: readonly Skill[] },
): AccessSettings {
  return {
    isAuthOn: checkAuthentication(config, options),
    limits: rateLimits(config, options),
    admission: admissionSettings(options),
    metricsToken: readMetricsToken(config, options),
  };
}

/** Returns true if callers must authenticate. Throws StartError for a combination that would leave the agent open. */
function checkAuthentication(
  { auth, security }: ServiceConfig,
  { noAuth, host }: AccessOptions,
): boolean {
  if (noAuth && auth.required) {
    throw new StartError('--no-auth conflicts with auth.required: true; drop one of the two');
  }
  if (noAuth && !isLoopback(host)) {
    throw new StartError(
      '--no-auth is for a loopback host; use --host 127.0.0.1, or configure auth.providers',
    );
  }
  if (noAuth && security.step_up.enabled) {
    throw new StartError(
      '--no-auth makes step-up impossible, so every call under security.step_up would be denied; drop --no-auth, or set security.step_up.enabled: false',
    );
  }
  const isAuthOn = !noAuth && (auth.required || auth.providers.length > 0);
  if (!isAuthOn && !isLoopback(host)) {
    throw new StartError(
      `without auth.providers the agent listens on a loopback host alone, not on ${host}; configure auth.providers or use --host 127.0.0.1`,
    );
  }
  return isAuthOn;
}

/** Resolves the rate limits. Throws StartError. */
function rateLimits({ server }: ServiceConfig, { rateLimit, env }: AccessOptions): RateLimits {
  try {
    return resolveRateLimit({ flags: rateLimit ?? {}, env, file: server.rate_limit });
  } catch (error) {
    throw error instanceof RateLimitError ? new StartError(error.message) : error;
  }
}

/** Reads the token of the metrics. Throws StartError. */
function readMetricsToken(
  config: ServiceConfig,
  options: Pick<MetricsTokenParts, 'env' | 'skills'>,
): string | null {
  try {
    return metricsToken({ config, ...options });
  } catch (error) {
    throw error instanceof SharedTokenError ? new StartError(error.message) : error;
  }
}

/** Reads and logs the admission settings. Throws StartError. */
function admissionSettings({ env, log }: AccessOptions): AdmissionSettings | null {
  try {
    const { settings, warning, info } = admissionFromEnvironment(env);
    if (warning !== null) log.warn({}, warning);
    if (info !== null) log.info({}, info);
    return settings;
  } catch (error) {
    throw error instanceof AdmissionSettingsError ? new StartError(error.message) : error;
  }
}
