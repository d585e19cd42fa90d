import { networkInterfaces } from 'node:os';
import fc from 'fast-check';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { EgressError } from '../../../../src/actors/outbound/egress/egress.ts';
import { createOwnListeners } from '../../../../src/actors/outbound/egress/own-listeners.ts';
import type { EgressMode } from '../../../../src/actors/ports/egress.ts';
import { aServer } from './a-server.ts';
import { anEgress, failureOf, scope } from './an-egress.ts';

const modes: EgressMode[] = ['allowlist', 'deny-all', 'dev-open'];

/** Every address of this machine that is no link-local one, those are never reached. */
const interfaces = Object.values(networkInterfaces())
  .flatMap((addresses = []) => addresses)
  .map(({ address }) => address)
  .filter((address) => !address.startsWith('fe80') && !address.startsWith('169.254'));

/** This machine as people write it in a URL to get past a filter. */
const spellings = [
  '127.0.0.1',
  '127.0.0.2',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '127.1',
  '１２７.０.０.１',
  '127.0.0.1.',
  '0.0.0.0',
  '0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
  ...interfaces.map((address) => (address.includes(':') ? `[${address}]` : address)),
];

/** Names, and what they lead to. */
const names: Record<string, string[]> = {
  localhost: ['127.0.0.1', '::1'],
  'six.example.test': ['::1'],
  'mapped.example.test': ['::ffff:127.0.0.1'],
  'any.example.test': ['0.0.0.0'],
  'mixed.example.test': ['93.184.216.34', '127.0.0.1'],
  'loop.example.test': ['127.8.8.8'],
  'here.example.test': [interfaces.at(-1) ?? '127.0.0.1'],
};

const hosts = [...spellings, ...Object.keys(names)];

/** Opens all that settings can, tunnels to a port as well. */
function wideOpen(mode: EgressMode, port: number): Parameters<typeof anEgress>[0] {
  const listed = ['*.example.test', 'localhost', ...spellings];
  return {
    mode,
    names,
    allowPrivateIps: true,
    allowedPrivateCidrs: ['127.0.0.0/8', '::1/128'],
    allowedDomains: listed,
    allowedPrivate: listed.map((host) => `${host}:${port}`),
    endpoints: listed.map((host) => ({ host, port, source: 'skills.x', skill: 'x' })),
  };
}

const itself = 'is the agent itself';

const refusal = /^egress blocked: \S+ is the agent itself$/;

describe.each(modes)("in mode %s the agent's own address", (mode) => {
  it.each(hosts)('is refused for a tool as %s', async (host) => {
    const { port, seen } = await aServer();
    const { egress, records } = anEgress(wideOpen(mode, port));
    egress.listensAt({ address: '127.0.0.1', port });
    const url = `http://${host}:${port}/tasks/t/decisions`;
    const failures = [
      await failureOf(egress.within(scope, () => egress.fetch(url, { method: 'POST' }))),
      await failureOf(egress.within(scope, () => request(url, { dispatcher: egress.dispatcher }))),
      await failureOf(egress.connect({ hostname: new URL(url).hostname, port }, scope)),
    ];
    const told = mode === 'deny-all' ? / is not on the allowlist \(mode=deny-all\)$/ : refusal;
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(EgressError);
      expect(failure).toMatchObject({ message: expect.stringMatching(told) });
    }
    expect(await egress.refusalOf(new URL(url), scope)).toMatch(told);
    const reason = mode === 'deny-all' ? 'is not on the allowlist' : 'is the agent itself';
    expect(records.map((record) => [record.scope, record.reason])).toEqual([
      [scope, reason],
      [scope, reason],
      [scope, reason],
    ]);
    expect(seen).toEqual([]);
  });
});

describe("the agent's own address", () => {
  it('is refused behind a redirect', async () => {
    const own = await aServer();
    const { port } = await aServer((_request, response) => {
      response.writeHead(307, { location: `http://b.example.test:${own.port}/` }).end();
    });
    const { egress, records } = anEgress();
    egress.listensAt({ address: '0.0.0.0', port: own.port });
    const failure = failureOf(
      egress.within(scope, () => egress.fetch(`http://a.example.test:${port}/`)),
    );
    expect(await failure).toMatchObject({
      message: 'egress blocked: b.example.test is the agent itself',
    });
    expect(records.map(({ domain, reason }) => [domain, reason])).toEqual([
      ['a.example.test', null],
      ['b.example.test', 'is the agent itself'],
    ]);
    expect(own.seen).toEqual([]);
  });

  it('is open to the agent itself, and tasks cannot use such a connection', async () => {
    const { port, seen } = await aServer();
    const { egress } = anEgress();
    egress.listensAt({ address: '127.0.0.1', port });
    const ask = async () => (await egress.fetch(`http://a.example.test:${port}/`)).text();
    expect(await ask()).toBe('hello');
    expect(await egress.within({ ...scope, isOwn: true }, ask)).toBe('hello');
    expect(await failureOf(egress.within(scope, ask))).toMatchObject({
      message: 'egress blocked: a.example.test is the agent itself',
    });
    expect(seen).toHaveLength(2);
  });

  it('does not include other ports of this machine, and other machines', async () => {
    const { port } = await aServer();
    const { egress } = anEgress();
    egress.listensAt({ address: '127.0.0.1', port: port === 1 ? 2 : 1 });
    const answer = egress.within(scope, () => egress.fetch(`http://a.example.test:${port}/`));
    expect(await (await answer).text()).toBe('hello');
    const listeners = createOwnListeners();
    listeners.add({ address: '::', port: 443 });
    expect(
      ['93.184.216.34', '10.255.255.1', '2606:4700::1', '::ffff:93.184.216.34', 'no address'].map(
        (address) => listeners.closedAt(address, 443),
      ),
    ).toEqual([null, null, null, null, null]);
  });

  it('includes every address that it is bound to, in any spelling', () => {
    const bound = fc.oneof(fc.ipV4(), fc.ipV6()).filter((text) => !text.includes('%'));
    fc.assert(
      fc.property(bound, fc.integer({ min: 1, max: 65_535 }), (address, port) => {
        const listeners = createOwnListeners();
        listeners.add({ address, port });
        const mapped = address.includes(':') ? address.toUpperCase() : `::ffff:${address}`;
        for (const spelling of [address, mapped, '127.0.0.1', '::1', '0.0.0.0', '::']) {
          expect(listeners.closedAt(spelling, port)).toBe('is the agent itself');
          expect(listeners.closedAt(spelling, port === 1 ? 2 : port - 1)).toBeNull();
        }
      }),
    );
  });

  it('includes an address that no interface lists, if both ends of a connection have it', () => {
    const listeners = createOwnListeners();
    listeners.add({ address: '0.0.0.0', port: 8080 });
    expect([
      listeners.closedAt('10.97.0.7', 8080),
      listeners.closedAt('10.97.0.7', 8080, '10.0.0.2'),
      listeners.closedAt('10.97.0.7', 8080, '10.97.0.7'),
      listeners.closedAt('::ffff:10.97.0.7', 8080, '10.97.0.7'),
      listeners.closedAt('10.97.0.7', 8081, '10.97.0.7'),
    ]).toEqual([null, null, itself, itself, null]);
  });
});

describe('the neighbours of an agent', () => {
  it.each(hosts)('are refused for a tool as %s, from the moment they listen', async (host) => {
    const { port, seen } = await aServer();
    const ports = new Set<number>();
    const { egress, records } = anEgress({
      ...wideOpen('dev-open', port),
      neighbours: () => ports,
    });
    ports.add(port);
    const url = `http://${host}:${port}/api/agents`;
    const failures = [
      await failureOf(egress.within(scope, () => egress.fetch(url, { method: 'POST' }))),
      await failureOf(egress.connect({ hostname: new URL(url).hostname, port }, scope)),
    ];
    const why = 'is a dashboard or another agent of the same workspace';
    for (const failure of failures) {
      expect(failure).toMatchObject({ message: expect.stringMatching(new RegExp(`${why}$`)) });
    }
    expect(records.map(({ reason }) => reason)).toEqual([why, why]);
    expect(seen).toEqual([]);
  });

  it('are not searched on other machines', () => {
    let looks = 0;
    const listeners = createOwnListeners(() => new Set([443, (looks += 1)]));
    expect(listeners.closedAt('93.184.216.34', 443)).toBeNull();
    expect(looks).toBe(0);
  });
});

describe('the other daemons over one store', () => {
  it('are refused where they report that they listen, and on this machine', () => {
    const listeners = createOwnListeners();
    listeners.setFellows([
      { address: '10.0.0.7', port: 8080 },
      { address: '::ffff:10.0.0.8', port: 8081 },
    ]);
    const why = 'is another daemon of the same agent';
    const places = [
      ['10.0.0.7', 8080],
      ['::ffff:a00:7', 8080],
      ['10.0.0.8', 8081],
      ['127.0.0.1', 8081],
      ['10.0.0.7', 8081],
      ['10.0.0.9', 8080],
    ] as const;
    expect(places.map(([address, port]) => listeners.closedAt(address, port))).toEqual([
      ...[why, why, why, why],
      ...[null, null],
    ]);
    listeners.setFellows([]);
    expect(listeners.closedAt('10.0.0.7', 8080)).toBeNull();
  });
});
