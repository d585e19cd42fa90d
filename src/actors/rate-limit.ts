import proxyAddress from 'proxy-addr';
import type { RateLimits } from './ports/rate-limits.ts';

/** Sources of the daemon's rate limits, in order of precedence. */
export interface RateLimitSources {
  flags: Partial<RateLimits>;
  env: Readonly<Record<string, string | undefined>>;
  /** `server.rate_limit` of `service.yaml`, with its defaults. */
  file: RateLimitSettings;
}

interface RateLimitSettings {
  read_rps: number;
  read_burst: number;
  write_rps: number;
  write_burst: number;
  cancel_exempt: boolean;
  trusted_proxies: string[];
}

/** A rate limit is invalid; the message states the valid values. */
export class RateLimitError extends Error {
  readonly code = 'cannot_start';
}

/** Maximum rate and burst; a higher limit would have no effect. */
const highest = 1_000_000;

/**
 * Parses each limit from the text of a flag or variable. Throws RateLimitError whose message completes a sentence, such
 * as `must be true or false`.
 */
export const rateLimitReaders: { [Key in keyof RateLimits]: (text: string) => RateLimits[Key] } = {
  readRps: readRate,
  readBurst: readCount,
  writeRps: readRate,
  writeBurst: readCount,
  cancelExempt: readSwitch,
  trustedProxies: readProxies,
};

/**
 * Resolves the rate limits of a daemon. Flags take precedence over the variables `SERVICE_RATE_LIMIT_*`, which take
 * precedence over the file. An empty variable counts as unset. Throws RateLimitError that names the variable.
 */
export function resolveRateLimit({ flags, env, file }: RateLimitSources): RateLimits {
  return {
    readRps: file.read_rps,
    readBurst: file.read_burst,
    writeRps: file.write_rps,
    writeBurst: file.write_burst,
    cancelExempt: file.cancel_exempt,
    trustedProxies: file.trusted_proxies,
    ...fromVariables(env),
    ...flags,
  };
}

/** Returns whether a trusted proxy is an address, a network such as `10.0.0.0/8`, or a named range. */
export function isProxy(text: string): boolean {
  try {
    proxyAddress.compile(text);
    return true;
  } catch {
    return false;
  }
}

function fromVariables(env: RateLimitSources['env']): Partial<RateLimits> {
  const readers: [string, (text: string) => unknown][] = Object.entries(rateLimitReaders);
  const found = readers.flatMap(([key, read]) => {
    const variable = variableOf(key);
    const text = env[variable]?.trim() ?? '';
    return text === '' ? [] : [[key, readVariable(variable, text, read)] as const];
  });
  return Object.fromEntries(found) as Partial<RateLimits>;
}

function readVariable<Value>(variable: string, text: string, read: (text: string) => Value): Value {
  try {
    return read(text);
  } catch (error) {
    if (!(error instanceof RateLimitError)) throw error;
    const message = `the variable ${variable} ${error.message}; fix it or unset it`;
    throw new RateLimitError(message, { cause: error });
  }
}

/** Returns the variable of a limit: `readRps` is `SERVICE_RATE_LIMIT_READ_RPS`. */
function variableOf(key: string): string {
  const words = key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`);
  return `SERVICE_RATE_LIMIT_${words.toUpperCase()}`;
}

function readRate(text: string): number {
  const rate = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  if (rate > 0 && rate <= highest) return rate;
  throw new RateLimitError(`must be a number above 0 and at most ${highest}`);
}

function readCount(text: string): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= 1 && count <= highest) return count;
  throw new RateLimitError(`must be a whole number from 1 to ${highest}`);
}

function readSwitch(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new RateLimitError('must be true or false');
}

function readProxies(text: string): string[] {
  if (text.trim() === 'none') return [];
  const proxies = text.split(',').map((entry) => entry.trim());
  if (proxies.every(isProxy)) return proxies;
  throw new RateLimitError(
    'must list addresses, networks such as 10.0.0.0/8, or loopback, linklocal and uniquelocal, with commas between them; or be none',
  );
}
