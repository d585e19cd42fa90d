import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimitError, resolveRateLimit } from '../../src/actors/rate-limit.ts';

const file = {
  read_rps: 50,
  read_burst: 200,
  write_rps: 20,
  write_burst: 100,
  cancel_exempt: true,
  trusted_proxies: ['10.0.0.0/8'],
};

const fromFile = {
  readRps: 50,
  readBurst: 200,
  writeRps: 20,
  writeBurst: 100,
  cancelExempt: true,
  trustedProxies: ['10.0.0.0/8'],
};

const env = {
  SERVICE_RATE_LIMIT_READ_RPS: '1.5',
  SERVICE_RATE_LIMIT_READ_BURST: '2',
  SERVICE_RATE_LIMIT_WRITE_RPS: '3',
  SERVICE_RATE_LIMIT_WRITE_BURST: ' 4 ',
  SERVICE_RATE_LIMIT_CANCEL_EXEMPT: 'false',
  SERVICE_RATE_LIMIT_TRUSTED_PROXIES: 'loopback, 192.0.2.0/24,2001:db8::1',
};

const fromVariables = {
  readRps: 1.5,
  readBurst: 2,
  writeRps: 3,
  writeBurst: 4,
  cancelExempt: false,
  trustedProxies: ['loopback', '192.0.2.0/24', '2001:db8::1'],
};

describe('the limits of a daemon', () => {
  it('come from the file', () => {
    expect(resolveRateLimit({ flags: {}, env: {}, file })).toEqual(fromFile);
  });

  it('come from variables before the file', () => {
    expect(resolveRateLimit({ flags: {}, env, file })).toEqual(fromVariables);
  });

  it('come from flags before all others', () => {
    const flags = {
      readRps: 7,
      readBurst: 8,
      writeRps: 9,
      writeBurst: 10,
      cancelExempt: true,
      trustedProxies: [],
    };
    expect(resolveRateLimit({ flags, env, file })).toEqual(flags);
  });

  it('are combined one by one', () => {
    const some = { SERVICE_RATE_LIMIT_READ_BURST: '2', SERVICE_RATE_LIMIT_WRITE_BURST: '4' };
    expect(resolveRateLimit({ flags: { writeBurst: 10 }, env: some, file })).toEqual({
      ...fromFile,
      readBurst: 2,
      writeBurst: 10,
    });
  });

  it('treat an empty variable as unset, and accept none for no proxies', () => {
    const some = {
      SERVICE_RATE_LIMIT_READ_RPS: '',
      SERVICE_RATE_LIMIT_CANCEL_EXEMPT: ' ',
      SERVICE_RATE_LIMIT_TRUSTED_PROXIES: 'none',
    };
    expect(resolveRateLimit({ flags: {}, env: some, file })).toEqual({
      ...fromFile,
      trustedProxies: [],
    });
  });
});

describe('a limit variable', () => {
  const rate = 'must be a number above 0 and at most 1000000';
  const count = 'must be a whole number from 1 to 1000000';
  const proxies =
    'must list addresses, networks such as 10.0.0.0/8, or loopback, linklocal and uniquelocal, with commas between them; or be none';
  it.each([
    ['READ_RPS', '0', rate],
    ['READ_RPS', '-1', rate],
    ['READ_RPS', 'Infinity', rate],
    ['READ_RPS', '1e3', rate],
    ['WRITE_RPS', '1000000.5', rate],
    ['WRITE_RPS', 'secret', rate],
    ['READ_BURST', '0', count],
    ['READ_BURST', '1.5', count],
    ['WRITE_BURST', '1000001', count],
    ['CANCEL_EXEMPT', 'yes', 'must be true or false'],
    ['CANCEL_EXEMPT', 'TRUE', 'must be true or false'],
    ['TRUSTED_PROXIES', 'proxy.example.com', proxies],
    ['TRUSTED_PROXIES', 'loopback,', proxies],
    ['TRUSTED_PROXIES', '0.0.0.0/0', proxies],
    ['TRUSTED_PROXIES', 'none, loopback', proxies],
  ])('stops the start with its name: %s=%s', (name, text, complaint) => {
    const variable = `SERVICE_RATE_LIMIT_${name}`;
    expect(() => resolveRateLimit({ flags: {}, env: { [variable]: text }, file })).toThrow(
      new RateLimitError(`the variable ${variable} ${complaint}; fix it or unset it`),
    );
  });

  it('is either a valid limit or refused, for any value', () => {
    const names = ['READ_RPS', 'READ_BURST', 'WRITE_RPS', 'WRITE_BURST'] as const;
    const text = fc.oneof(fc.string(), fc.double().map(String), fc.integer().map(String));
    fc.assert(
      fc.property(fc.constantFrom(...names), text, (name, said) => {
        let limits: ReturnType<typeof resolveRateLimit>;
        try {
          limits = resolveRateLimit({
            flags: {},
            env: { [`SERVICE_RATE_LIMIT_${name}`]: said },
            file,
          });
        } catch (error) {
          expect(error).toBeInstanceOf(RateLimitError);
          expect((error as Error).message).not.toContain(said.length > 12 ? said : '\0');
          return;
        }
        const { readRps, readBurst, writeRps, writeBurst } = limits;
        for (const pace of [readRps, writeRps]) {
          expect(pace > 0 && Number.isFinite(pace)).toBe(true);
        }
        for (const burst of [readBurst, writeBurst]) {
          expect(burst >= 1 && Number.isInteger(burst)).toBe(true);
        }
      }),
    );
  });
});
