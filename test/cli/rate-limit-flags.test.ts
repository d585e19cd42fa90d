import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  addRateLimitFlags,
  type RateLimitFlags,
  rateLimitOf,
} from '../../src/cli/rate-limit-flags.ts';

function read(...argv: string[]): ReturnType<typeof rateLimitOf> {
  const command = addRateLimitFlags(new Command('run')).exitOverride();
  command.configureOutput({ writeErr: () => undefined });
  return rateLimitOf(command.parse(argv, { from: 'user' }).opts<RateLimitFlags>());
}

describe('the flags of the rate limit', () => {
  it('set only the given limits', () => {
    expect(read()).toEqual({});
    expect(read('--rate-limit-write-burst', '5')).toEqual({ writeBurst: 5 });
  });

  it('set every limit', () => {
    const argv = [
      ['--rate-limit-read-rps', '0.5'],
      ['--rate-limit-read-burst', '2'],
      ['--rate-limit-write-rps', '3'],
      ['--rate-limit-write-burst', '4'],
      ['--rate-limit-cancel-exempt', 'false'],
      ['--rate-limit-trusted-proxies', 'loopback,10.0.0.0/8'],
    ];
    expect(read(...argv.flat())).toEqual({
      readRps: 0.5,
      readBurst: 2,
      writeRps: 3,
      writeBurst: 4,
      cancelExempt: false,
      trustedProxies: ['loopback', '10.0.0.0/8'],
    });
  });

  it.each([
    ['--rate-limit-read-rps <n>', '0', 'must be a number above 0 and at most 1000000'],
    ['--rate-limit-write-burst <n>', '1.5', 'must be a whole number from 1 to 1000000'],
    ['--rate-limit-cancel-exempt <bool>', 'no', 'must be true or false'],
  ])('refuse an invalid value: %s %s', (flag, text, complaint) => {
    expect(() => read(flag.split(' ')[0]!, text)).toThrow(
      `error: option '${flag}' argument '${text}' is invalid. it ${complaint}.`,
    );
  });
});
