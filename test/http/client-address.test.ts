import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressGroup, clientAddress } from '../../src/http/client-address.ts';

/** As much of a request as tells where it comes from. */
function from(remoteAddress: string | undefined, forwarded?: string): IncomingMessage {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { headers, socket: { remoteAddress } } as unknown as IncomingMessage;
}

function octal(part: number): string {
  return `0${part.toString(8)}`;
}

describe('the address of a caller', () => {
  it.each([
    ['the peer', [], '192.0.2.9', undefined, '192.0.2.9'],
    ['the peer, with any header', [], '192.0.2.9', '198.51.100.1', '192.0.2.9'],
    ['the peer, which no list names', ['10.0.0.0/8'], '192.0.2.9', '198.51.100.1', '192.0.2.9'],
    [
      'the address that a trusted proxy received',
      ['10.0.0.0/8'],
      '10.1.2.3',
      '198.51.100.1',
      '198.51.100.1',
    ],
    [
      'the right-most address that is not a proxy',
      ['10.0.0.0/8'],
      '10.1.2.3',
      '203.0.113.5, 198.51.100.1, 10.9.9.9',
      '198.51.100.1',
    ],
    [
      'the first of a chain of proxies',
      ['10.0.0.0/8'],
      '10.1.2.3',
      '10.3.3.3, 10.4.4.4',
      '10.3.3.3',
    ],
    ['a proxy without a forwarded address', ['10.0.0.0/8'], '10.1.2.3', undefined, '10.1.2.3'],
    ['a named range', ['loopback'], '127.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['a proxy seen through IPv6', ['10.1.2.3'], '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['an IPv4 caller of an IPv6 server', [], '::ffff:192.0.2.9', undefined, '192.0.2.9'],
    ['an address with a port', ['loopback'], '::1', '198.51.100.1:5000', '198.51.100.1'],
    ['an IPv6 address with a port', ['loopback'], '::1', '[2001:db8::1]:5000', '2001:db8::1'],
    ['the proxy for an invalid entry', ['loopback'], '127.0.0.1', 'unknown', '127.0.0.1'],
    ['an address in octal', ['loopback'], '::1', '0306.0063.0144.07', '198.51.100.7'],
    ['an address in one number', ['loopback'], '::1', '3325256711', '198.51.100.7'],
    ['an address in hexadecimal', ['loopback'], '::1', '0xc6336407', '198.51.100.7'],
    ['an address in two parts', ['loopback'], '::1', '198.3367943', '198.51.100.7'],
    ['a long IPv6 address', ['loopback'], '::1', '2001:DB8:0:0::0001', '2001:db8::1'],
    ['the address before an empty entry', ['loopback'], '::1', '198.51.100.1, ', '198.51.100.1'],
    ['none after the disconnect', [], undefined, '198.51.100.1', ''],
    ['none behind a disconnected proxy', ['loopback'], undefined, '198.51.100.1', ''],
  ])('is %s', (_, trusted, remote, forwarded, expected) => {
    expect(clientAddress(trusted)(from(remote, forwarded))).toBe(expected);
  });

  it('is never a forged address in front of the trusted one', () => {
    const addressOf = clientAddress(['10.0.0.0/8', 'loopback']);
    fc.assert(
      fc.property(fc.string(), (madeUp) => {
        const forwarded = `${madeUp}, 198.51.100.1, 10.0.0.7`;
        expect(addressOf(from('10.1.2.3', forwarded))).toBe('198.51.100.1');
      }),
    );
  });

  it('is equal for every spelling of an IPv4 address', () => {
    const addressOf = clientAddress(['loopback']);
    const bases = [(part: number) => `${part}`, octal, (part: number) => `0x${part.toString(16)}`];
    const spelt = fc.tuple(fc.constantFrom(...bases), fc.integer({ min: 1, max: 4 }));
    const octets = fc.tuple(
      fc.integer({ min: 128, max: 223 }),
      fc.nat(255),
      fc.nat(255),
      fc.nat(255),
    );
    fc.assert(
      fc.property(octets, spelt, (parts, [write, count]) => {
        const rest = parts.slice(count - 1).reduce((sum, part) => sum * 256 + part, 0);
        const text = [...parts.slice(0, count - 1), rest].map(write).join('.');
        expect(addressOf(from('127.0.0.1', text))).toBe(parts.join('.'));
      }),
    );
  });

  it.each(['nonsense', '10.0.0.0/33', '10.0.0.0/0', ''])('cannot trust %j', (proxy) => {
    expect(() => clientAddress([proxy])).toThrow(TypeError);
  });
});

describe('the group of an address', () => {
  it.each([
    ['192.0.2.9', '192.0.2.9'],
    ['::ffff:192.0.2.9', '192.0.2.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ])('of %s is %s', (address, expected) => {
    expect(addressGroup(address)).toBe(expected);
  });

  it('is the same for every address of a /64 and no other', () => {
    const host = fc.tuple(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0, max: 0xffff }));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xfffe }), host, host, (net, [a, b], [c, d]) => {
        const at = (fourth: number, x: number, y: number) =>
          addressGroup(`2001:db8:5:${fourth.toString(16)}:${x.toString(16)}::${y.toString(16)}`);
        expect(at(net, a, b)).toBe(at(net, c, d));
        expect(at(net, a, b)).not.toBe(at(net + 1, a, b));
      }),
    );
  });
});
