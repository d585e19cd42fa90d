import { type Command, InvalidArgumentError } from 'commander';
import type { RateLimits } from '../actors/ports/rate-limits.ts';
import { RateLimitError, rateLimitReaders } from '../actors/rate-limit.ts';

/** The rate limits given on a command line, by option name. */
export interface RateLimitFlags {
  rateLimitReadRps?: number;
  rateLimitReadBurst?: number;
  rateLimitWriteRps?: number;
  rateLimitWriteBurst?: number;
  rateLimitCancelExempt?: boolean;
  rateLimitTrustedProxies?: readonly string[];
}

/** Adds the rate limit flags to a command (docs/contract/command.md). */
export function addRateLimitFlags(command: Command): Command {
  const { readRps, readBurst, writeRps, writeBurst, cancelExempt, trustedProxies } =
    rateLimitReaders;
  const prefix = '--rate-limit';
  return command
    .option(`${prefix}-read-rps <n>`, 'reads per second from one address', asOption(readRps))
    .option(`${prefix}-read-burst <n>`, 'burst of reads from one address', asOption(readBurst))
    .option(`${prefix}-write-rps <n>`, 'writes per second from one address', asOption(writeRps))
    .option(`${prefix}-write-burst <n>`, 'burst of writes from one address', asOption(writeBurst))
    .option(`${prefix}-cancel-exempt <bool>`, 'never limit a cancel', asOption(cancelExempt))
    .option(
      `${prefix}-trusted-proxies <list>`,
      'proxies whose X-Forwarded-For is believed',
      asOption(trustedProxies),
    );
}

/** Returns the rate limits given on a command line. */
export function rateLimitOf(flags: RateLimitFlags): Partial<RateLimits> {
  const limits = {
    readRps: flags.rateLimitReadRps,
    readBurst: flags.rateLimitReadBurst,
    writeRps: flags.rateLimitWriteRps,
    writeBurst: flags.rateLimitWriteBurst,
    cancelExempt: flags.rateLimitCancelExempt,
    trustedProxies: flags.rateLimitTrustedProxies,
  };
  const named = Object.entries(limits).filter(([, value]) => value !== undefined);
  return Object.fromEntries(named) as Partial<RateLimits>;
}

/** Renders the rate limits as command-line words. */
export function rateLimitWords(flags: RateLimitFlags): string[] {
  const names: Record<keyof RateLimitFlags, string> = {
    rateLimitReadRps: 'read-rps',
    rateLimitReadBurst: 'read-burst',
    rateLimitWriteRps: 'write-rps',
    rateLimitWriteBurst: 'write-burst',
    rateLimitCancelExempt: 'cancel-exempt',
    rateLimitTrustedProxies: 'trusted-proxies',
  };
  return Object.entries(names).flatMap(([key, name]) => {
    const value = flags[key as keyof RateLimitFlags];
    return value === undefined ? [] : [`--rate-limit-${name}`, String(value)];
  });
}

/** Reports an invalid value in the format of the other options. */
function asOption<Value>(read: (text: string) => Value): (text: string) => Value {
  return (text) => {
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof RateLimitError)) throw error;
      throw new InvalidArgumentError(`it ${error.message}.`);
    }
  };
}
