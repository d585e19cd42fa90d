import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkEgress } from '../../../src/actors/config/check-egress.ts';
import { serviceSchema } from '../../../src/actors/config/service-schema.ts';
import { createEgress } from '../../../src/actors/outbound/egress/egress.ts';
import { runs } from '../../helpers/runs.ts';
import { linesOf, read } from './reading.ts';

/** What is said about an egress section, as lines: `error 0 …` for the first entry of its list. */
function said(egress: object, allowed_hosts: string[] = []): string[] {
  const workflow_propagation = { allowed_hosts };
  const config = serviceSchema.parse({ agent_id: 'x', egress, workflow_propagation });
  return checkEgress(config).map(
    ({ severity, path, message }) => `${severity} ${path.join('.')} ${message}`,
  );
}

const domain = (entry: string, more: object = {}) => said({ allowed_domains: [entry], ...more });
const network = (entry: string) => said({ allowed_private_cidrs: [entry] });

const notHost = 'this is not a host; write one such as api.example.com or *.example.com';
const port = 'the port must be a number from 1 to 65535, as in api.example.com:8443';
const star = 'a * stands for subdomains and only at the start, as in *.example.com';
const loneStar =
  'a * alone is no pattern; list hosts and domains such as api.example.com or *.example.com';

describe('a listed domain', () => {
  it.each([
    'api.example.com',
    '*.example.com',
    'API.Example.COM.',
    'münchen.example',
    'under_score.example.com',
    'localhost',
    '93.184.216.34',
    '0x5db8d822',
    '2606:2800:220:1::1',
    '[2606:2800:220:1::1]',
    'api.example.com:443',
    '*.example.com:8443',
    '[2606:2800:220:1::1]:65535',
    '93.184.216.34:1',
  ])('may be %s', (entry) => {
    expect(domain(entry)).toEqual([]);
  });

  it.each([
    [
      'https://api.example.com/v1',
      'this is not a host but a URL or a path; write the host alone: api.example.com',
    ],
    [
      'api.example.com/v1',
      'this is not a host but a URL or a path; write the host alone: one such as api.example.com or *.example.com',
    ],
    ['*.example.com:', port],
    ['api.example.com:0', port],
    ['api.example.com:65536', port],
    ['api.example.com:https', port],
    ['api.example.com:+80', port],
    ['[2606:2800:220:1::1]:x', port],
    [':443', notHost],
    ['2606:2800:220:1::1:99999', notHost],
    ['*', loneStar],
    ['*.', loneStar],
    ['api.*.com', star],
    ['*example.com', star],
    ['**.example.com', star],
    ['*.*.example.com', star],
    ['user@api.example.com', notHost],
    ['api example.com', notHost],
    ['api.example.com?x', notHost],
    ['a..b', notHost],
    ['a.example.com,b.example.com', notHost],
    ['.example.com', notHost],
    ['-a.example.com', notHost],
    ['%61.example.com', notHost],
    ['fe80::1%eth0', notHost],
    [`${'a'.repeat(64)}.example.com`, notHost],
    ['1.2.3.4.5', notHost],
    ['*.10.0.0.1', 'an address has no subdomains; remove the *.'],
    ['169.254.169.254', 'the address {value} is never allowed; remove it'],
    ['0xa9fea9fe', 'the address {value} is never allowed; remove it'],
    ['[fd00:ec2::254]', 'the address {value} is never allowed; remove it'],
    ['::ffff:169.254.169.254', 'the address {value} is never allowed; remove it'],
    ['::7f00:1', 'the address {value} is never allowed; remove it'],
    ['224.0.0.1', 'the address {value} is never allowed; remove it'],
  ])('is refused when it is %s', (entry, message) => {
    expect(domain(entry)).toEqual([`error egress.allowed_domains.0 ${message}`]);
  });

  it('causes a warning when it covers a whole top-level domain', () => {
    expect(domain('*.com')).toEqual([
      'warning egress.allowed_domains.0 {value} lets every host whose name ends in .com pass; name the domain',
    ]);
  });

  it.each(['10.1.2.3', '127.1', '[::1]', 'fd12::1', '100.64.0.1'])(
    'causes a warning when it is a private address that no setting permits: %s',
    (entry) => {
      expect(domain(entry)).toEqual([
        'warning egress.allowed_domains.0 the address {value} is private and stays refused; list it in allowed_private instead',
      ]);
      expect(domain(entry, { allow_private_ips: true })).toEqual([]);
      const opened = ['10.0.0.0/8', '127.0.0.0/8', '::1/128', 'fd00::/8', '100.64.0.0/10'];
      expect(domain(entry, { allowed_private_cidrs: opened })).toEqual([]);
    },
  );
});

describe('a permitted private host', () => {
  const opened = (entry: string) => said({ allowed_private: [entry] });
  const network =
    'this is a network, not a host; add it to allowed_private_cidrs and list its hosts in allowed_domains';

  it.each([
    'db.internal',
    'db.internal:5432',
    '*.svc.internal',
    'localhost:9000',
    '127.0.0.1:9000',
    '10.1.2.3',
    '[::1]:9000',
    'fd12::1',
  ])('may be %s', (entry) => {
    expect(opened(entry)).toEqual([]);
  });

  it.each([
    ['10.0.0.0/8', network],
    ['fd00::/8', network],
    [
      'http://127.0.0.1:9000/prices',
      'this is not a host but a URL or a path; write the host alone: 127.0.0.1:9000',
    ],
    [
      'http://db.internal/',
      'this is not a host but a URL or a path; write the host alone: db.internal',
    ],
    ['db.internal:x', port],
    ['db internal', notHost],
    ['*', loneStar],
    ['169.254.169.254', 'the address {value} is never allowed; remove it'],
    ['0.0.0.0:80', 'the address {value} is never allowed; remove it'],
  ])('is refused when it is %s', (entry, message) => {
    expect(opened(entry)).toEqual([`error egress.allowed_private.0 ${message}`]);
  });

  it('causes a warning when it is public, or when the mode makes it useless', () => {
    expect(opened('93.184.216.34:443')).toEqual([
      'warning egress.allowed_private.0 the address {value} is public; list it in allowed_domains',
    ]);
    expect(said({ mode: 'deny-all', allowed_private: ['db.internal'] })).toEqual([
      'warning egress.allowed_private tools have no network access with mode: deny-all, so this list has no effect',
    ]);
  });

  it('may receive the workflow headers', () => {
    expect(said({ allowed_private: ['db.internal:5432'] }, ['db.internal'])).toEqual([]);
  });
});

describe('a permitted private network', () => {
  it.each([
    '10.0.0.0/8',
    '10.1.2.3/32',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '127.0.0.0/8',
    '100.64.0.0/10',
    'fc00::/7',
    'fd00::/8',
    '::1/128',
  ])('may be %s', (entry) => {
    expect(network(entry)).toEqual([]);
  });

  const never =
    'this network contains addresses that are never allowed, such as metadata services; list private networks only';
  const isPublic =
    'this network is not private as a whole; open private networks alone, and list public hosts in allowed_domains';
  const none = 'this is no network; write one in CIDR notation, such as 10.1.0.0/16';

  it.each([
    ['10.0.0.1', none],
    ['10.0.0.0/33', none],
    ['10.0/16', 'this has an address of fewer than four parts; write all four'],
    ['0x0a.0.0.0/8', none],
    ['office', none],
    ['10.1.2.3/16', 'this has bits set beyond its prefix; write 10.1.0.0/16'],
    ['fd12::1/64', 'this has bits set beyond its prefix; write fd12::/64'],
    ['169.254.0.0/16', never],
    ['169.254.169.254/32', never],
    ['100.100.100.200/32', never],
    ['fd00:ec2::254/128', never],
    ['168.63.129.16/32', never],
    ['224.0.0.0/4', never],
    ['0.0.0.0/0', never],
    ['::/0', never],
    ['fe80::/10', never],
    ['ff00::/8', never],
    ['8.0.0.0/5', isPublic],
    ['10.0.0.0/7', never],
    ['93.184.216.0/24', isPublic],
    ['2606:2800::/32', isPublic],
    ['::ffff:10.0.0.0/104', 'write this network in its IPv4 form'],
  ])('is refused when it is %s', (entry, message) => {
    expect(network(entry)).toEqual([`error egress.allowed_private_cidrs.0 ${message}`]);
  });

  it('causes a warning when all private networks are permitted', () => {
    expect(said({ allow_private_ips: true, allowed_private_cidrs: ['10.0.0.0/8'] })).toEqual([
      'warning egress.allowed_private_cidrs allow_private_ips: true opens every private network, so this list has no effect',
    ]);
  });
});

describe('the egress mode', () => {
  it('is allowlist with an empty list by default', () => {
    const { egress } = serviceSchema.parse({ agent_id: 'x' });
    expect(egress).toEqual({
      mode: 'allowlist',
      allowed_domains: [],
      allow_private_ips: false,
      allowed_private_cidrs: [],
      allowed_private: [],
      sandbox: 'auto',
      writable: [],
    });
    expect(said({})).toEqual([]);
  });

  it('always causes a warning when it is dev-open', () => {
    expect(said({ mode: 'dev-open', allowed_domains: ['10.0.0.1'] }, ['a.example'])).toEqual([
      'warning egress.mode mode {value} allows every host, the local network included; use it for development only',
    ]);
  });

  it('causes a warning when it makes a list useless', () => {
    expect(said({ mode: 'deny-all' })).toEqual([]);
    expect(said({ mode: 'deny-all', allowed_domains: ['a.example'] }, ['a.example'])).toEqual([
      'warning egress.allowed_domains tools have no network access with mode: deny-all, so this list has no effect',
      'warning workflow_propagation.allowed_hosts.0 tools have no network access with mode: deny-all, so no header is ever propagated to {value}',
    ]);
  });
});

describe('a host that receives the workflow headers', () => {
  const allowed_domains = ['api.example.com', '*.shop.example'];

  it.each([
    'API.example.com',
    'pay.shop.example',
    '*.shop.example',
    '*.eu.shop.example',
    '*.example.com',
  ])('may be %s, which is at least partly listed', (entry) => {
    expect(said({ allowed_domains }, [entry])).toEqual([]);
  });

  it.each(['shop.example', 'other.example', '*.api.example.com', '*.other.example'])(
    'causes a warning when it is not listed: %s',
    (entry) => {
      expect(said({ allowed_domains }, [entry])).toEqual([
        'warning workflow_propagation.allowed_hosts.0 egress.allowed_domains does not list {value}; unless a skill declares it, no header is ever propagated to it',
      ]);
    },
  );

  it('follows the rules of a listed domain', () => {
    expect(said({ allowed_domains }, ['*', 'api.example.com:443'])).toEqual([
      `error workflow_propagation.allowed_hosts.0 ${loneStar}`,
      'error workflow_propagation.allowed_hosts.1 a host is listed here without its port; remove the port',
    ]);
  });
});

it('each egress error has its place in the file', () => {
  const text = `agent_id: x
egress:
  mode: dev-open
  sandbox: bwrap
  allowed_domains:
    - api.example.com
    - https://api.example.com
  allowed_private_cidrs: [10.0.0.0/8, 10.1.2.3/16]
  allowed_private: [db.internal, "db.internal:x"]
  allowed_domain: []
workflow_propagation: {allowed_hosts: ["*"]}
`;
  expect(linesOf(read(text))).toEqual([
    'error 7:7 egress.allowed_domains.1 | this is not a host but a URL or a path; write the host alone: api.example.com',
    'error 8:39 egress.allowed_private_cidrs.1 | this has bits set beyond its prefix; write 10.1.0.0/16',
    `error 9:34 egress.allowed_private.1 | ${port}`,
    'error 10:3 egress.allowed_domain | egress.allowed_domain: unknown key; did you mean allowed_domains?',
    `error 11:40 workflow_propagation.allowed_hosts.0 | ${loneStar}`,
    'warning 3:9 egress.mode | mode dev-open allows every host, the local network included; use it for development only',
  ]);
});

it('scripts have three egress modes', () => {
  expect(linesOf(read('agent_id: x\negress: {sandbox: docker}'))).toEqual([
    'error 2:19 egress.sandbox | egress.sandbox: this must be one of env, bwrap, auto',
  ]);
});

it('every accepted egress section can be read by the policy', () => {
  const piece = fc.constantFrom(
    '*',
    '.',
    'a',
    'ex-1',
    'é',
    ':',
    '::1',
    '[',
    ']',
    '10.0.0.0',
    '/8',
    '%',
    '_',
    'xn--',
    '0x7f',
    ' ',
  );
  const entry = fc
    .oneof(
      fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join('')),
      fc.domain(),
      fc.ipV4Extended(),
      fc.ipV6(),
      fc.tuple(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(130)).map(([ip, bits]) => `${ip}/${bits}`),
    )
    .filter((text) => text.trim() !== '');
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 3 }),
      fc.array(entry, { maxLength: 3 }),
      fc.array(entry, { maxLength: 2 }),
      (domains, cidrs, hosts) => {
        const egress = {
          allowed_domains: domains,
          allowed_private: domains,
          allowed_private_cidrs: cidrs,
        };
        const config = serviceSchema.parse({
          agent_id: 'x',
          egress,
          workflow_propagation: { allowed_hosts: hosts },
        });
        if (checkEgress(config).some(({ severity }) => severity === 'error')) return;
        createEgress({
          mode: 'allowlist',
          allowedDomains: domains,
          allowedPrivate: domains,
          allowPrivateIps: false,
          allowedPrivateCidrs: cidrs,
          propagateTo: hosts,
          endpoints: [],
          record: () => undefined,
        });
      },
    ),
    { numRuns: runs(2_000) },
  );
});
