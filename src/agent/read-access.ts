import {
  type AdmissionSettings,
  AdmissionSettingsError,
  admissionFromEnvironment,
} from '../actors/access/access.ts';
import { type ServiceConfig } from '../actors/config/config.ts';
import type { Log, RateLimits } from '../actors/ports.ts';
import { RateLimitError, resolveRateLimit } from '../actors/rate-limit.ts';
import { isLoopback } from '../machines/loopback.ts';

/** The agent may not be started in this way; the message says how it may. */
export class StartError extends Error {
  readonly code = 'cannot_start';
}

/** What stands before the agent, as its configuration, the command line and the environment settle it. */
export interface Door {
  /** True when callers must sign in. */
  isAuthOn: boolean;
  limits: RateLimits;
  /** How the platform is asked; `null` while admission is off. */
  admission: AdmissionSettings | null;
}

/** How the agent is started, as far as the door goes. */
export interface DoorOptions {
  host: string;
  noAuth: boolean;
  rateLimit?: Partial<RateLimits>;
  env: NodeJS.ProcessEnv;
  log: Log;
}

/** Settles what stands before the agent. Throws StartError for what would leave it open or cannot be read. */
export function readDoor(config: ServiceConfig, options: DoorOptions): Door {
  return {
    isAuthOn: checkAuthentication(config, options),
    limits: rateLimits(config, options),
    admission: admissionSettings(options),
  };
}

/** Tells whether callers must sign in. Throws StartError for a combination that would leave the agent open. */
function checkAuthentication(
  { auth, security }: ServiceConfig,
  { noAuth, host }: DoorOptions,
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
      '--no-auth leaves nobody who could step up, so every call under security.step_up would be refused; drop --no-auth, or set security.step_up.enabled: false',
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

/** Settles how quickly one address may call. Throws StartError. */
function rateLimits({ server }: ServiceConfig, { rateLimit, env }: DoorOptions): RateLimits {
  try {
    return resolveRateLimit({ flags: rateLimit ?? {}, env, file: server.rate_limit });
  } catch (error) {
    throw error instanceof RateLimitError ? new StartError(error.message) : error;
  }
}

/** Reads how admission is set up, and says it in the log. Throws StartError. */
function admissionSettings({ env, log }: DoorOptions): AdmissionSettings | null {
  try {
    const { settings, warning, info } = admissionFromEnvironment(env);
    if (warning !== null) log.warn({}, warning);
    if (info !== null) log.info({}, info);
    return settings;
  } catch (error) {
    throw error instanceof AdmissionSettingsError ? new StartError(error.message) : error;
  }
}
