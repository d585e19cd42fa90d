import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  matchesHost,
  normaliseHost,
  readHostPattern,
  writeHostPattern,
} from '../../../src/actors/egress/egress.ts';

/** Whether a pattern as written matches a host as written. */
function matches(pattern: string, host: string): boolean {
  const read = readHostPattern(pattern);
  const normal = normaliseHost(host);
  return read.ok && normal !== null && matchesHost(read.pattern, normal);
}

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
    ['api.example.com:443', 'api.example.com', true],
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
      '"https://example.com" is a URL; write its host alone, such as api.example.com',
    ],
    [
      'example.com/path',
      '"example.com/path" is a URL; write its host alone, such as api.example.com',
    ],
    ['', '"" is no host; write a name such as api.example.com or *.example.com'],
    ['*', '"*" is no host; write a name such as api.example.com or *.example.com'],
    ['*.', '"*." is no host; write a name such as api.example.com or *.example.com'],
    ['api.*.com', '"api.*.com" is no host; write a name such as api.example.com or *.example.com'],
    ['*.*.com', '"*.*.com" is no host; write a name such as api.example.com or *.example.com'],
    [
      '*example.com',
      '"*example.com" is no host; write a name such as api.example.com or *.example.com',
    ],
    ['a..b', '"a..b" is no host; write a name such as api.example.com or *.example.com'],
    [
      '.example.com',
      '".example.com" is no host; write a name such as api.example.com or *.example.com',
    ],
    [
      'user@example.com',
      '"user@example.com" is no host; write a name such as api.example.com or *.example.com',
    ],
    [
      'exa mple.com',
      '"exa mple.com" is no host; write a name such as api.example.com or *.example.com',
    ],
    [
      'exam%70le.com',
      '"exam%70le.com" is no host; write a name such as api.example.com or *.example.com',
    ],
    [
      'example.com:99999',
      '"example.com:99999" is no host; write a name such as api.example.com or *.example.com',
    ],
    [
      '*.10.0.0.1',
      '"*.10.0.0.1" has an address after the star; write a domain, such as *.example.com',
    ],
  ])('cannot be %j', (text, message) => {
    expect(readHostPattern(text)).toEqual({ ok: false, message });
  });

  it('has labels of 63 characters and a name of 253 at most', () => {
    const label = (length: number) => 'a'.repeat(length);
    const long = [63, 63, 63, 61].map(label).join('.');
    expect([63, 64].map((length) => normaliseHost(`${label(length)}.test`))).toEqual([
      `${label(63)}.test`,
      null,
    ]);
    expect([long, `${long}a`].map(normaliseHost)).toEqual([long, null]);
  });

  it('is written in the form in which it is compared', () => {
    const written = ['*.BÜCHER.de', 'API.example.com:443', '[::0001]'].map((text) => {
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

  it('never throws, whatever it is made of', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (text, host) => {
        const first = normaliseHost(host);
        expect(first === null || normaliseHost(first) === first).toBe(true);
        expect(typeof readHostPattern(text).ok).toBe('boolean');
      }),
    );
  });
});
