import { describe, expect, it } from 'vitest';
import {
  type DerivedEndpoint,
  type EffectiveHosts,
  effectiveHosts,
  readPatterns,
} from '../../../../src/actors/outbound/egress/effective-hosts.ts';

const nothing = { domains: [], private: [] };

/** A host that a setting leads to, at one port. */
function named(source: string, mayBePrivate?: boolean): DerivedEndpoint {
  const endpoint = { host: 'keys.test', port: 443, source };
  return mayBePrivate === undefined ? endpoint : { ...endpoint, mayBePrivate };
}

/** What is shown of that host, and whether its address may be private. */
function readingOf(hosts: EffectiveHosts): [string[], boolean] {
  return [hosts.entries.map(({ source }) => source), hosts.derivesPrivate('keys.test', 443)];
}

describe("a host from the operator's settings", () => {
  it.each<[boolean | undefined, boolean | undefined, string, boolean]>([
    [undefined, undefined, 'first', true],
    [true, true, 'first', true],
    [true, false, 'first', true],
    [false, false, 'first', false],
    // The most trusted source of its address decides.
    [false, true, 'second', true],
    [false, undefined, 'second', true],
  ])('listed by %s and then by %s belongs to the %s', (before, after, source, isPrivate) => {
    const hosts = effectiveHosts(nothing, [named('first', before)]);
    hosts.add(named('second', after));
    expect(readingOf(hosts)).toEqual([[source], isPrivate]);
  });

  it('may be private only at its own port', () => {
    const hosts = effectiveHosts(nothing, [named('first')]);
    expect([443, 80].map((port) => hosts.derivesPrivate('keys.test', port))).toEqual([true, false]);
    expect([443, 80].map((port) => hosts.derives('keys.test', port))).toEqual([true, false]);
  });
});

describe('a permitted private host', () => {
  it.each([
    ['db.internal', 5432, true],
    ['db.internal', 443, true],
    ['cache.internal', 6379, true],
    ['cache.internal', 6380, false],
    ['other.internal', 5432, false],
  ])('is %s at %i: %s', (host, port, expected) => {
    const listed = { domains: ['other.internal'], private: ['db.internal', 'cache.internal:6379'] };
    expect(effectiveHosts(listed, []).listsPrivate(host, port)).toBe(expected);
  });
});

describe('an unreadable entry', () => {
  it.each<[string, () => unknown, string]>([
    [
      'an entry',
      () => effectiveHosts({ domains: ['a.test', 'x.test:0'], private: [] }, []),
      'egress.allowed_domains.1: "x.test:0": the port must be a number from 1 to 65535, as in api.example.com:8443',
    ],
    [
      'a private entry',
      () => effectiveHosts({ domains: [], private: ['-x.test'] }, []),
      'egress.allowed_private.0: "-x.test": this is not a host; write one such as api.example.com or *.example.com',
    ],
    [
      'a host of a skill',
      () =>
        effectiveHosts(nothing, [{ host: '*', port: 443, source: 'skills.maps', skill: 'maps' }]),
      'skills.maps: "*": a * alone is no pattern; list hosts and domains such as api.example.com or *.example.com',
    ],
    [
      'a pattern',
      () => readPatterns('workflow_propagation.allowed_hosts', ['a.test', 'a.*.test']),
      'workflow_propagation.allowed_hosts.1: "a.*.test": a * stands for subdomains and only at the start, as in *.example.com',
    ],
  ])('is reported for %s by its path', (_, make, message) => {
    expect(make).toThrow(new Error(message));
  });
});
