import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AddressRules,
  createAddressRules,
  readNetwork,
} from '../../../../src/actors/outbound/egress/address-rules.ts';

const nothing: AddressRules = { allowPrivateIps: false, allowedPrivateCidrs: [] };
const everything: AddressRules = {
  allowPrivateIps: true,
  allowedPrivateCidrs: ['0.0.0.0/0', '::/0'],
};

const openable = [
  ['127.0.0.1', 'a loopback address'],
  ['127.255.255.254', 'a loopback address'],
  ['::1', 'a loopback address'],
  ['::ffff:127.0.0.1', 'a loopback address'],
  ['10.0.0.1', 'a private address'],
  ['172.16.0.1', 'a private address'],
  ['192.168.1.1', 'a private address'],
  ['::ffff:10.0.0.1', 'a private address'],
  ['fc00::1', 'a private address'],
  ['fd12:3456::1', 'a private address'],
  ['100.64.0.1', 'a carrier-grade address'],
] as const;

const closed = [
  ['169.254.169.254', 'a metadata address'],
  ['::ffff:169.254.169.254', 'a metadata address'],
  ['169.254.170.2', 'a metadata address'],
  ['100.100.100.200', 'a metadata address'],
  ['192.0.0.192', 'a metadata address'],
  ['168.63.129.16', 'a metadata address'],
  ['fd00:ec2::254', 'a metadata address'],
  ['fd00:0ec2:0:0:0:0:0:254', 'a metadata address'],
  ['169.254.1.1', 'a link-local address'],
  ['fe80::1', 'a link-local address'],
  ['fe80::1%eth0', 'a link-local address'],
  ['224.0.0.1', 'a multicast address'],
  ['ff02::1', 'a multicast address'],
  ['0.0.0.0', 'an unspecified address'],
  ['0.1.2.3', 'an unspecified address'],
  ['::', 'an unspecified address'],
  ['255.255.255.255', 'a broadcast address'],
  ['240.0.0.1', 'a reserved address'],
  ['192.0.2.1', 'a reserved address'],
  ['198.18.0.1', 'a reserved address'],
  ['::7f00:1', 'a reserved address'],
  ['::127.0.0.1', 'a reserved address'],
  ['64:ff9b::7f00:1', 'a reserved address'],
  ['64:ff9b:1::1', 'a reserved address'],
  ['2002:7f00:1::', 'a reserved address'],
  ['2001::1', 'a reserved address'],
  ['::ffff:0:127.0.0.1', 'a reserved address'],
  ['fec0::1', 'a reserved address'],
  ['2001:db8::1', 'a reserved address'],
  ['', 'no address'],
  ['example.com', 'no address'],
  ['1.2.3.4.5', 'no address'],
] as const;

describe('the address rule', () => {
  it.each(['8.8.8.8', '1.1.1.1', '::ffff:8.8.8.8', '2606:4700::1111', '172.32.0.1'])(
    'permits a connection to %s',
    (address) => {
      expect(createAddressRules(nothing)(address, false)).toBeNull();
    },
  );

  it.each(openable)('refuses %s as %s unless it is permitted', (address, fault) => {
    expect(createAddressRules(nothing)(address, false)).toBe(fault);
    expect(createAddressRules(everything)(address, false)).toBeNull();
    expect(createAddressRules(nothing)(address, true)).toBeNull();
  });

  it.each(closed)('refuses %s as %s under any setting', (address, fault) => {
    expect(createAddressRules(nothing)(address, false)).toBe(fault);
    expect(createAddressRules(everything)(address, true)).toBe(fault);
  });

  it('permits only the given networks', () => {
    const checkAddress = createAddressRules({
      allowPrivateIps: false,
      allowedPrivateCidrs: ['10.1.0.0/16', 'fd12::/32', '127.0.0.1/32'],
    });
    const addresses = [
      '10.1.255.255',
      '::ffff:10.1.0.1',
      '10.2.0.0',
      'fd12::1',
      'fd13::1',
      '127.0.0.1',
      '127.0.0.2',
    ];
    expect(addresses.map((address) => checkAddress(address, false))).toEqual([
      null,
      null,
      'a private address',
      null,
      'a private address',
      null,
      'a loopback address',
    ]);
  });

  it('refuses every private IPv4 address in every IPv6 spelling', () => {
    const checkAddress = createAddressRules(nothing);
    const first = fc.constantFrom([10], [127], [192, 168], [172, 16], [169, 254], [100, 64], [0]);
    fc.assert(
      fc.property(first, fc.array(fc.nat(255), { minLength: 3, maxLength: 3 }), (start, rest) => {
        const octets = [...start, ...rest].slice(0, 4);
        const hex = octets.map((octet) => octet.toString(16).padStart(2, '0')).join('');
        const groups = `${hex.slice(0, 4)}:${hex.slice(4)}`;
        const dotted = octets.join('.');
        const spellings = [
          dotted,
          `::ffff:${dotted}`,
          `::ffff:${groups}`,
          `0:0:0:0:0:ffff:${groups}`,
          `::${groups}`,
          `64:ff9b::${groups}`,
          `2002:${groups}::`,
        ];
        for (const spelling of spellings) {
          expect(checkAddress(spelling, false), spelling).not.toBeNull();
          expect(checkAddress(spelling.toUpperCase(), false), spelling).not.toBeNull();
        }
      }),
    );
  });
});

describe('a permitted network', () => {
  it.each([
    ['10.1.0.0', '"10.1.0.0" is no network; write one in CIDR notation, such as 10.1.0.0/16'],
    ['10.1.0.0/33', '"10.1.0.0/33" is no network; write one in CIDR notation, such as 10.1.0.0/16'],
    [
      '10.1.0.0/0016',
      '"10.1.0.0/0016" is no network; write one in CIDR notation, such as 10.1.0.0/16',
    ],
    [
      '0x0a.0.0.0/8',
      '"0x0a.0.0.0/8" is no network; write one in CIDR notation, such as 10.1.0.0/16',
    ],
    [
      'fe80::%eth0/64',
      '"fe80::%eth0/64" is no network; write one in CIDR notation, such as 10.1.0.0/16',
    ],
    ['corp', '"corp" is no network; write one in CIDR notation, such as 10.1.0.0/16'],
    ['10.1.0.1/16', '"10.1.0.1/16" has bits set beyond its prefix; write 10.1.0.0/16'],
    ['fd12::1/32', '"fd12::1/32" has bits set beyond its prefix; write fd12::/32'],
    ['10.1/16', '"10.1/16" has an address of fewer than four parts; write all four'],
  ])('cannot be %s', (text, message) => {
    expect(readNetwork(text)).toEqual({ ok: false, message });
  });

  it.each(['10.1.0.0/16', '127.0.0.1/32', 'fd00::/8', '::1/128', '0.0.0.0/0'])(
    'can be %s',
    (text) => {
      expect(readNetwork(text).ok).toBe(true);
    },
  );
});
