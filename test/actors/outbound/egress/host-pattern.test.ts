import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isCoveredBy,
  matchesHost,
  normaliseHost,
  readHostEntry,
  readHostPattern,
  writeHostPattern,
} from '../../../../src/actors/outbound/egress/egress.ts';

/** Whether a pattern as written matches a host as written. */
function matches(pattern: string, host: string): boolean {
  const read = readHostPattern(pattern);
  const normal = normaliseHost(host);
  return read.ok && normal !== null && matchesHost(read.pattern, normal);
}

const example = 'such as api.example.com or *.example.com';
const notHost = `this is not a host; write one ${example}`;
const noPath = 'this is not a host but a URL or a path; write the host alone:';
const star = 'a * stands for subdomains and only at the start, as in *.example.com';

const label = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,8}[a-z0-9])?$/);
const name = fc
  .array(label, { minLength: 1, maxLength: 4 })
  // A name that ends in a number is an address to a URL.
  .map((labels) => [...labels, 'test'].join('.'));

describe('a host pattern', () => {
  it.each([
    ['api.example.com', 'api.example.com', true],
    ['API.Example.COM', 'api.example.com', true],
    ['api.example.com', 'API.EXAMPLE.COM:8443', true],
    ['api.example.com', 'api.example.com.', true],
    ['api.example.com.', 'api.example.com', true],
    ['api.example.com', 'example.com', false],
    ['api.example.com', 'x.api.example.com', false],
    ['*.example.com', 'api.example.com', true],
    ['*.example.com', 'a.b.example.com', true],
    ['*.example.com', 'example.com', false],
    ['*.example.com', 'badexample.com', false],
    ['*.example.com', 'api.example.com.evil.test', false],
    ['bücher.de', 'xn--bcher-kva.de', true],
    ['*.xn--bcher-kva.de', 'WWW.BÜCHER.de', true],
    ['127.0.0.1', '0x7f.1', true],
    ['2130706433', '127.0.0.1', true],
    ['::1', '[::1]:80', true],
    ['[0:0:0:0:0:0:0:1]', '::1', true],
    ['127.0.0.1', '127.0.0.2', false],
  ])('%s against %s: %s', (pattern, host, expected) => {
    expect(matches(pattern, host)).toBe(expected);
  });

  it.each([
    [
      'https://example.com',
      'this is not a host but a URL or a path; write the host alone: example.com',
    ],
    [
      'example.com/path',
      `this is not a host but a URL or a path; write the host alone: one ${example}`,
    ],
    ['', notHost],
    ['*', `a * alone is no pattern; list hosts and domains ${example}`],
    ['*.', `a * alone is no pattern; list hosts and domains ${example}`],
    ['api.*.com', star],
    ['*.*.com', star],
    ['*example.com', star],
    ['a..b', notHost],
    ['.example.com', notHost],
    ['user@example.com', notHost],
    ['exa mple.com', notHost],
    ['exam%70le.com', notHost],
    ['-x.com', notHost],
    ['x-.com', notHost],
    ['(x).com', notHost],
    ['b,c.com', notHost],
    ['api.example.com:443', 'a host is listed here without its port; remove the port'],
    ['[::1]:443', 'a host is listed here without its port; remove the port'],
    ['example.com:99999', 'a host is listed here without its port; remove the port'],
    ['*.10.0.0.1', 'an address has no subdomains; remove the *.'],
  ])('cannot be %j', (text, message) => {
    expect(readHostPattern(text)).toEqual({ ok: false, message });
  });

  it.each([
    ['API.example.com:8443', { host: 'api.example.com', isWildcard: false }, 8443],
    ['*.example.com', { host: 'example.com', isWildcard: true }, null],
    ['[::0001]:9000', { host: '::1', isWildcard: false }, 9000],
    ['::1', { host: '::1', isWildcard: false }, null],
  ])('may be listed as %s', (text, pattern, port) => {
    expect(readHostEntry(text)).toEqual({ ok: true, pattern, port });
  });

  it.each([
    ['https://example.com:8443/x', `${noPath} example.com:8443`],
    ['https://example.com/', `${noPath} example.com`],
    ['example.com/path', `${noPath} one ${example}`],
    ['file:///etc/passwd', `${noPath} one ${example}`],
    ['example.com:8443/path', `${noPath} one ${example}`],
    ['-x.com:8443', notHost],
  ])('cannot be listed as %s', (text, message) => {
    expect(readHostEntry(text)).toEqual({ ok: false, message });
  });

  it.each([
    ['1', 1],
    ['443', 443],
    ['00443', 443],
    ['65535', 65_535],
    ['65536', null],
    ['0', null],
    ['', null],
    ['000443', null],
    ['1e3', null],
    ['0x50', null],
    ['+80', null],
    ['-1', null],
    ['8.5', null],
    ['https', null],
  ])('with the port %j covers %s', (digits, port) => {
    const message = 'the port must be a number from 1 to 65535, as in api.example.com:8443';
    const pattern = { host: 'a.test', isWildcard: false };
    expect(readHostEntry(`a.test:${digits}`)).toEqual(
      port === null ? { ok: false, message } : { ok: true, pattern, port },
    );
  });

  it.each([
    ['api.example.com', 'api.example.com', true],
    ['api.example.com', 'www.example.com', false],
    ['api.example.com', '*.example.com', true],
    ['example.com', '*.example.com', false],
    ['*.example.com', '*.example.com', true],
    ['*.api.example.com', '*.example.com', true],
    ['*.example.com', '*.api.example.com', false],
    ['*.example.com', '*.example.org', false],
    ['*.badexample.com', '*.example.com', false],
    ['*.example.com', 'example.com', false],
    ['*.example.com', 'api.example.com', false],
  ])('%s is covered by %s: %s', (pattern, other, expected) => {
    const [one, wide] = [readHostPattern(pattern), readHostPattern(other)];
    expect(one.ok && wide.ok && isCoveredBy(one.pattern, wide.pattern)).toBe(expected);
  });

  it('has labels of at most 63 characters and a name of at most 253', () => {
    const label = (length: number) => 'a'.repeat(length);
    const long = [63, 63, 63, 61].map(label).join('.');
    expect([63, 64].map((length) => normaliseHost(`${label(length)}.test`))).toEqual([
      `${label(63)}.test`,
      null,
    ]);
    expect([long, `${long}a`].map(normaliseHost)).toEqual([long, null]);
  });

  it('is written in the form that is compared', () => {
    const written = ['*.BÜCHER.de', 'API.example.com', '[::0001]'].map((text) => {
      const read = readHostPattern(text);
      return read.ok ? writeHostPattern(read.pattern) : read.message;
    });
    expect(written).toEqual(['*.xn--bcher-kva.de', 'api.example.com', '::1']);
  });

  it('matches a name in any letter case, with any port and a trailing dot', () => {
    fc.assert(
      fc.property(name, fc.nat(65_535), fc.boolean(), (host, port, dot) => {
        expect(matches(host, `${host.toUpperCase()}${dot ? '.' : ''}:${port}`)).toBe(true);
      }),
    );
  });

  it('with a star matches strictly deeper names of its domain and nothing else', () => {
    fc.assert(
      fc.property(name, name, (domain, host) => {
        expect(matches(`*.${domain}`, host)).toBe(host.endsWith(`.${domain}`));
        expect(matches(`*.${domain}`, domain)).toBe(false);
        expect(matches(`*.${domain}`, `${host}.${domain}`)).toBe(true);
        expect(matches(`*.${domain}`, `${host}${domain}`)).toBe(false);
      }),
    );
  });

  it('never throws, for any pattern', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (text, host) => {
        const first = normaliseHost(host);
        expect(first === null || normaliseHost(first) === first).toBe(true);
        expect(typeof readHostPattern(text).ok).toBe('boolean');
      }),
    );
  });
});
