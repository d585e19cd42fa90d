import { type Command, InvalidArgumentError } from 'commander';
import type { RateLimits } from '../actors/ports.ts';
import { RateLimitError, rateLimitReaders } from '../actors/rate-limit.ts';

/** The limits a command line names, under the names that its options have. */
export interface RateLimitFlags {
  rateLimitReadRps?: number;
  rateLimitReadBurst?: number;
  rateLimitWriteRps?: number;
  rateLimitWriteBurst?: number;
  rateLimitCancelExempt?: boolean;
  rateLimitTrustedProxies?: readonly string[];
}

/** Gives a command the flags of the rate limit (docs/contract/command.md). */
export function addRateLimitFlags(command: Command): Command {
  const { readRps, readBurst, writeRps, writeBurst, cancelExempt, trustedProxies } =
    rateLimitReaders;
  const prefix = '--rate-limit';
  return command
    .option(`${prefix}-read-rps <n>`, 'reads a second from one address', asOption(readRps))
    .option(`${prefix}-read-burst <n>`, 'reads at once from one address', asOption(readBurst))
    .option(`${prefix}-write-rps <n>`, 'writes a second from one address', asOption(writeRps))
    .option(`${prefix}-write-burst <n>`, 'writes at once from one address', asOption(writeBurst))
    .option(`${prefix}-cancel-exempt <bool>`, 'never hold a cancel back', asOption(cancelExempt))
    .option(
      `${prefix}-trusted-proxies <list>`,
      'proxies whose X-Forwarded-For is believed',
      asOption(trustedProxies),
    );
}

/** Collects the limits that a command line named. */
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

/** Writes the limits as the words of a command line that name them. */
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

/** Reports an unreadable value as every other option does. */
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
