import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type HopSettings, hopPolicy } from '../../../../src/actors/outbound/egress/hop-policy.ts';
import { createOwnListeners } from '../../../../src/actors/outbound/egress/own-listeners.ts';
import { type HopPolicy, ruleHop } from '../../../../src/actors/outbound/egress/rule-hop.ts';
import type { EgressMode, EgressScope } from '../../../../src/actors/ports/egress.ts';
import { scope } from './an-egress.ts';

/** The rules of an agent that opens nothing but what is given. */
function aPolicy(settings: Partial<HopSettings> = {}): HopPolicy {
  const nothing = { allowPrivateIps: false, allowedPrivateCidrs: [], endpoints: [] };
  const usual: HopSettings = { mode: 'allowlist', allowedDomains: [], ...nothing };
  return hopPolicy({ ...usual, ...settings }, createOwnListeners());
}

const octets = fc.tuple(
  fc.constantFrom(10, 127, 0, 169, 192, 100, 172, 224, 255),
  fc.nat(255),
  fc.nat(255),
  fc.nat(255),
);
const radix = fc.constantFrom(8, 10, 16);

/** Writes a number as the parser of URLs reads one. */
function written(value: number, base: number): string {
  return `${base === 8 ? '0' : base === 16 ? '0x' : ''}${value.toString(base)}`;
}

/** Writes an IPv4 address in one to four parts, each in a base of its own. */
function spelled(parts: number[], count: number, bases: number[]): string {
  const rest = parts.slice(count - 1).reduce((sum, part) => sum * 256 + part, 0);
  return [...parts.slice(0, count - 1), rest]
    .map((part, index) => written(part, bases[index] ?? 10))
    .join('.');
}

describe('the ruling on a hop', () => {
  it('is the same for every spelling of an IPv4 address', () => {
    fc.assert(
      fc.property(
        octets,
        fc.integer({ min: 1, max: 4 }),
        fc.tuple(radix, radix, radix, radix),
        (parts, count, bases) => {
          const plain = parts.join('.');
          for (const policy of [aPolicy({ allowedDomains: [plain] }), aPolicy()]) {
            const rule = (hostname: string) =>
              ruleHop({ protocol: 'http:', hostname, port: 80 }, null, policy);
            expect(rule(spelled(parts, count, bases))).toEqual(rule(plain));
          }
        },
      ),
    );
  });

  it('never permits a private address, in any spelling', () => {
    const privates = fc.tuple(fc.constantFrom(10, 127, 0), fc.nat(255), fc.nat(255), fc.nat(255));
    fc.assert(
      fc.property(
        privates,
        fc.integer({ min: 1, max: 4 }),
        fc.tuple(radix, radix, radix, radix),
        fc.constantFrom(null, scope),
        (parts, count, bases, on) => {
          const hostname = spelled(parts, count, bases);
          // Even its own entry on the allowlist opens no address.
          const policy = aPolicy({ allowedDomains: [hostname] });
          const { why } = ruleHop({ protocol: 'http:', hostname, port: 80 }, on, policy);
          expect(why).toMatch(/^is an? (private|loopback|unspecified) address$/);
        },
      ),
    );
  });

  it.each<EgressMode>(['allowlist', 'deny-all', 'dev-open'])(
    'refuses every scheme but http and https in mode %s',
    (mode) => {
      const endpoints = [{ host: 'api.example.com', port: 21, source: 'model' }];
      const policy = aPolicy({ mode, allowedDomains: ['api.example.com'], endpoints });
      for (const protocol of ['ftp:', 'file:', 'ws:', 'http', 'HTTP:', '']) {
        for (const on of [null, scope]) {
          const ruling = ruleHop({ protocol, hostname: 'api.example.com', port: 21 }, on, policy);
          expect(ruling).toEqual({
            host: 'api.example.com',
            why: 'uses neither http nor https',
          });
        }
      }
    },
  );

  const endpoints = [
    { host: 'sink.example', port: 443, source: 'audit.sinks.0' },
    { host: '10.0.0.7', port: 9000, source: 'auth.providers.0' },
    { host: 'api.weather.example', port: 443, source: 'skills.weather', skill: 'weather' },
    { host: '*.maps.example', port: 443, source: 'skills.maps', skill: 'maps' },
  ];
  const allowedDomains = ['api.example', 'mail.example:25', '10.0.0.7'];
  const allowedPrivate = ['db.internal', '127.0.0.1:9000', '[::1]:5432', '*.svc.internal'];
  const own = { ...scope, isOwn: true };
  const stranger = { taskId: null, correlationId: null, tags: {}, isOwn: false };
  const weather = { ...scope, skill: 'weather' };
  const closed = 'is not on the allowlist';
  const privately = 'is a private address';

  it.each<[string, number, EgressScope | null, string | null]>([
    // What a setting leads to is the daemon's, at that port alone.
    ['sink.example', 443, null, null],
    ['sink.example', 443, own, null],
    ['sink.example', 8443, own, closed],
    ['sink.example', 443, scope, closed],
    ['sink.example', 443, weather, closed],
    // A program of another user that runs for no single task is no part of the daemon.
    ['sink.example', 443, stranger, closed],
    ['api.example', 443, stranger, null],
    ['10.0.0.7', 9000, null, null],
    // Listed for tasks, and private for them all the same.
    ['10.0.0.7', 9000, scope, privately],
    // What a skill declares is for its own scripts.
    ['api.weather.example', 443, weather, null],
    ['api.weather.example', 80, weather, closed],
    ['api.weather.example', 443, scope, closed],
    ['api.weather.example', 443, own, closed],
    ['api.weather.example', 443, null, closed],
    ['eu.maps.example', 443, weather, closed],
    ['eu.maps.example', 443, { ...scope, skill: 'maps' }, null],
    // What is listed is for everybody, at its port where it has one.
    ['api.example', 8443, scope, null],
    ['api.example', 8443, null, null],
    ['mail.example', 25, scope, null],
    ['mail.example', 80, scope, closed],
    ['db.internal', 5432, scope, null],
    ['a.svc.internal', 80, weather, null],
    ['127.0.0.1', 9000, scope, null],
    ['127.0.0.1', 9000, own, null],
    ['127.0.0.1', 9001, scope, closed],
    ['::1', 5432, scope, null],
    ['::1', 5433, scope, closed],
  ])('under allowlist answers for %s at %i for %o: %s', (hostname, port, on, why) => {
    const policy = aPolicy({ allowedDomains, allowedPrivate, endpoints });
    const hop = { protocol: 'https:', hostname, port };
    expect(ruleHop(hop, on, policy)).toEqual({ host: hostname, why });
  });

  it.each<[string, number, EgressScope, string | null]>([
    ['api.example', 443, scope, null],
    ['api.example', 80, scope, null],
    ['api.example', 22, scope, 'requests a tunnel to port 22, which no entry allows'],
    ['mail.example', 25, scope, null],
    ['mail.example', 443, scope, closed],
    ['db.internal', 5432, scope, 'requests a tunnel to port 5432, which no entry allows'],
    ['127.0.0.1', 9000, scope, null],
    ['api.weather.example', 443, weather, null],
    ['elsewhere.example', 443, scope, closed],
  ])('permits a tunnel to %s at %i for %o: %s', (hostname, port, on, why) => {
    const policy = aPolicy({ allowedDomains, allowedPrivate, endpoints });
    const hop = { protocol: 'https:', hostname, port, isTunnel: true };
    expect(ruleHop(hop, on, policy)).toEqual({ host: hostname, why });
  });

  it('permits nothing to tasks under deny-all, with any list', () => {
    const policy = aPolicy({ mode: 'deny-all', allowedDomains, allowedPrivate, endpoints });
    const places: [string, number][] = [
      ['sink.example', 443],
      ['api.example', 443],
      ['127.0.0.1', 9000],
      ['api.weather.example', 443],
    ];
    const rulings = (on: EgressScope | null) =>
      places.map(
        ([hostname, port]) => ruleHop({ protocol: 'https:', hostname, port }, on, policy).why,
      );
    expect(rulings(scope)).toEqual([closed, closed, closed, closed]);
    expect(rulings(weather)).toEqual([closed, closed, closed, closed]);
    expect(rulings(null)).toEqual([null, closed, closed, closed]);
  });

  it('identifies its own listener, listed for a tunnel or not', () => {
    const listeners = createOwnListeners();
    listeners.add({ address: '127.0.0.1', port: 8080 });
    const policy = hopPolicy(
      {
        mode: 'allowlist',
        allowedDomains: ['127.0.0.1'],
        allowPrivateIps: true,
        allowedPrivateCidrs: [],
        endpoints: [],
      },
      listeners,
    );
    const rulings = [8080, 8081].flatMap((port) =>
      [true, false].map((isTunnel) => {
        const hop = { protocol: 'https:', hostname: '127.0.0.1', port, isTunnel };
        return ruleHop(hop, scope, policy).why;
      }),
    );
    expect(rulings).toEqual([
      'is the agent itself',
      'is the agent itself',
      'requests a tunnel to port 8081, which no entry allows',
      null,
    ]);
  });

  it('quotes at most the longest name of an invalid host', () => {
    const hostname = `${'a'.repeat(252)} b`;
    expect(ruleHop({ protocol: 'https:', hostname, port: 443 }, scope, aPolicy())).toEqual({
      host: `${'a'.repeat(252)} `,
      why: 'is no host',
    });
  });

  it('permits every tunnel under dev-open', () => {
    const hop = { protocol: 'https:', hostname: 'anywhere.example', port: 22, isTunnel: true };
    expect(ruleHop(hop, scope, aPolicy({ mode: 'dev-open' })).why).toBeNull();
  });
});
