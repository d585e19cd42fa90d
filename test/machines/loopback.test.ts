import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLoopback, isLoopbackUrl } from '../../src/machines/loopback.ts';

describe('a host of this machine', () => {
  it.each([
    'localhost',
    '127.0.0.1',
    '127.0.0.2',
    '127.255.255.255',
    '127.0.0.0',
    '127.109.199.249',
    '127.190.0.99',
    '::1',
  ])('is %s', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each([
    '',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'localhost.evil.test',
    'localhost\n',
    '127.0.0.1.',
    '127.0.0.1.evil.test',
    '127.0.0.1:80',
    ' 127.0.0.1',
    '127.0.0.256',
    '127.0.0.01',
    '127.0.1',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '0x7f000001',
    '0177.0.0.1',
    '128.0.0.1',
    '1127.0.0.1',
    '0.0.0.0',
    '::',
    '[::1]',
    '::2',
    '0:0:0:0:0:0:0:1',
    '::1%lo',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '10.0.0.1',
    '\u0661\u0662\u0667.0.0.1',
  ])('is not %j', (host) => {
    expect(isLoopback(host)).toBe(false);
  });

  it('is every address of 127.0.0.0/8 and no other address', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(isLoopback(address)).toBe(address.startsWith('127.'));
      }),
    );
  });
});

describe('a URL to this machine', () => {
  it.each([
    'http://localhost',
    'http://LocalHost:8080/path',
    'https://127.0.0.1/',
    'http://127.1',
    'http://127.0.0.01',
    'http://2130706433',
    'http://0x7f000001',
    'http://0177.0.0.1',
    'http://127.0.0.1.',
    'http://%31%32%37.0.0.1',
    'http://[::1]:9000',
    'http://[0:0:0:0:0:0:0:1]',
    'http://somebody@127.0.0.1',
  ])('is %s, as its parser spells the host', (url) => {
    expect(isLoopbackUrl(new URL(url))).toBe(true);
  });

  it.each([
    'http://localhost.',
    'http://a.localhost',
    'http://localhost.evil.test',
    'http://localhost@evil.test',
    'http://127.0.0.1.evil.test',
    'http://128.0.0.1',
    'http://0.0.0.0',
    'http://[::]',
    'http://[::ffff:127.0.0.1]',
    'http://[::127.0.0.1]',
    'http://10.0.0.1',
  ])('is not %s', (url) => {
    expect(isLoopbackUrl(new URL(url))).toBe(false);
  });
});
