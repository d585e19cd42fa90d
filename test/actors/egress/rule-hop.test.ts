import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAddressRules } from '../../../src/actors/egress/address-rules.ts';
import { effectiveHosts } from '../../../src/actors/egress/effective-hosts.ts';
import { ruleHop } from '../../../src/actors/egress/rule-hop.ts';

const nothing = { allowPrivateIps: false, allowedPrivateCidrs: [] };
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
    const judgeAddress = createAddressRules(nothing);
    fc.assert(
      fc.property(
        octets,
        fc.integer({ min: 1, max: 4 }),
        fc.tuple(radix, radix, radix, radix),
        (parts, count, bases) => {
          const plain = parts.join('.');
          const policies = [effectiveHosts([plain], []), effectiveHosts([], [])];
          for (const hosts of policies) {
            const rule = (hostname: string) =>
              ruleHop({ protocol: 'http:', hostname, port: 80 }, null, {
                mode: 'allowlist',
                hosts,
                judgeAddress,
              });
            expect(rule(spelled(parts, count, bases))).toEqual(rule(plain));
          }
        },
      ),
    );
  });

  it('never lets a private address through, however it is spelled', () => {
    const judgeAddress = createAddressRules(nothing);
    const privates = fc.tuple(fc.constantFrom(10, 127, 0), fc.nat(255), fc.nat(255), fc.nat(255));
    fc.assert(
      fc.property(
        privates,
        fc.integer({ min: 1, max: 4 }),
        fc.tuple(radix, radix, radix, radix),
        fc.boolean(),
        (parts, count, bases, open) => {
          const hostname = spelled(parts, count, bases);
          // Even its own entry on the allowlist opens no address.
          const hosts = effectiveHosts([hostname], []);
          const mode = open ? 'dev-open' : 'allowlist';
          const { why } = ruleHop({ protocol: 'http:', hostname, port: 80 }, null, {
            mode,
            hosts,
            judgeAddress,
          });
          expect(why).toMatch(/^is an? (private|loopback|unspecified) address$/);
        },
      ),
    );
  });
});
