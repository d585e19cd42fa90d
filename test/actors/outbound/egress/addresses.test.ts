import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { aServer } from './a-server.ts';
import { anEgress, failureOf, recorded, scope } from './an-egress.ts';
import { hearDials } from './hear-dials.ts';

/** Loopback as people write it to get past a filter. */
const spellings = [
  '127.0.0.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '127.1',
  '0x7f.1',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::1]',
  '[::7f00:1]',
  '１２７.０.０.１',
  '127.0.0.1.',
  '0.0.0.0',
  '[::]',
];

const metadata = [
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '[::ffff:169.254.169.254]',
  '[fd00:ec2::254]',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
];

describe('an address in a URL', () => {
  it.each(spellings)('is refused as %s unless it is listed', async (host) => {
    const { port, seen } = await aServer();
    const { egress, records, asked } = anEgress({ allowPrivateIps: true });
    const failure = await failureOf(egress.fetch(`http://${host}:${port}/`));
    expect(failure).toMatchObject({
      code: 'egress_blocked',
      message: expect.stringMatching(/^egress blocked: \S+ is not on the allowlist/),
    });
    expect(records.map(({ reason }) => reason)).toEqual(['is not on the allowlist']);
    expect([seen, asked]).toEqual([[], []]);
  });

  it.each(spellings)(
    'is refused as %s even when every range but its own is listed',
    async (host) => {
      const { port, seen } = await aServer();
      const listed = ['127.0.0.1', '::1', '::7f00:1', '::', '0.0.0.0', '::ffff:127.0.0.1'];
      const { egress } = anEgress({ allowedDomains: listed, allowedPrivateCidrs: [] });
      expect(await failureOf(egress.fetch(`http://${host}:${port}/`))).toMatchObject({
        message: expect.stringMatching(/is an? (loopback|unspecified|reserved) address/),
      });
      expect(seen).toEqual([]);
    },
  );

  it.each(['127.0.0.1', '2130706433', '0x7f.1', '127.1', '127.0.0.1.'])(
    'is permitted as %s when it is listed and permitted in any spelling',
    async (host) => {
      const { port } = await aServer();
      const { egress, records } = anEgress({ allowedDomains: ['0x7f000001'] });
      const response = await egress.within(scope, () => egress.fetch(`http://${host}:${port}/`));
      expect(await response.text()).toBe('hello');
      expect(records).toEqual([recorded('127.0.0.1', null)]);
    },
  );

  it('is permitted in dev-open when it is private, by name or number', async () => {
    const { port, seen } = await aServer();
    const { egress } = anEgress({ mode: 'dev-open', allowedDomains: [], allowedPrivateCidrs: [] });
    for (const host of ['127.1', 'anywhere.test']) await egress.fetch(`http://${host}:${port}/`);
    expect(seen.map(({ headers }) => headers.host)).toEqual([
      `127.0.0.1:${port}`,
      `anywhere.test:${port}`,
    ]);
  });

  it.each(metadata)('is refused as %s even in dev-open', async (host) => {
    const { egress, records } = anEgress({ mode: 'dev-open', allowPrivateIps: true });
    expect(await failureOf(egress.fetch(`http://${host}/latest/meta-data/`))).toMatchObject({
      message: expect.stringMatching(
        /^egress blocked: \S+ is a metadata address \(mode=dev-open\)$/,
      ),
    });
    expect(records.map(({ reason }) => reason)).toEqual(['is a metadata address']);
  });
});

describe('a host name', () => {
  it.each([
    ['a private address', ['10.0.0.5']],
    ['a metadata address', ['169.254.169.254']],
    ['a private address', ['93.184.216.34', '10.0.0.5']],
    ['a loopback address', ['93.184.216.34', '2606:4700::1', '::1']],
    ['a loopback address', ['::ffff:127.0.0.2']],
    ['no address', []],
  ])('that resolves to %s is refused: %o', async (what, addresses) => {
    const dials = hearDials();
    const { egress, records } = anEgress({ names: { 'api.example.test': addresses } });
    const failure = await failureOf(
      egress.within(scope, () => egress.fetch('http://api.example.test:8/')),
    );
    expect(failure).toMatchObject({
      code: 'egress_blocked',
      message: `egress blocked: api.example.test resolves to ${what} (mode=allowlist)`,
    });
    expect(records).toEqual([recorded('api.example.test', `resolves to ${what}`)]);
    expect(dials).toEqual([]);
  });

  it('that resolves to a metadata address is refused in dev-open', async () => {
    const names = { 'metadata.test': ['169.254.169.254'] };
    const { egress } = anEgress({ mode: 'dev-open', names });
    expect(await failureOf(egress.fetch('http://metadata.test/'))).toMatchObject({
      message: 'egress blocked: metadata.test resolves to a metadata address (mode=dev-open)',
    });
  });

  it('is resolved once for each connection, and the checked address is used', async () => {
    const { port, seen } = await aServer((_request, response) => {
      response.setHeader('Connection', 'close').end('hello');
    });
    const dials = hearDials();
    const answers = [['127.0.0.1'], ['10.0.0.5'], ['169.254.169.254']];
    let asked = 0;
    const { egress } = anEgress({
      lookup: async () => {
        asked += 1;
        return (answers.shift() ?? []).map((address) => ({ address, family: 4 }));
      },
    });
    const url = `http://api.example.test:${port}/`;
    expect(await (await egress.fetch(url)).text()).toBe('hello');
    expect(await failureOf(egress.fetch(url))).toMatchObject({
      message: expect.stringContaining('resolves to a private address'),
    });
    expect(await failureOf(egress.fetch(url))).toMatchObject({
      message: expect.stringContaining('resolves to a metadata address'),
    });
    expect([asked, seen.length]).toEqual([3, 1]);
    expect(
      dials.map(({ hostname, port: dialled, addresses }) => [hostname, dialled, addresses]),
    ).toEqual([['api.example.test', port, ['127.0.0.1']]]);
  });

  it('is connected at any of its checked addresses that answers', async () => {
    const { port } = await aServer();
    const { egress } = anEgress({
      allowPrivateIps: true,
      names: { 'api.example.test': ['::1', '127.0.0.1'] },
    });
    const response = await egress.fetch(`http://api.example.test:${port}/`);
    expect(await response.text()).toBe('hello');
  });

  it('shares no connection with another name', async () => {
    const { port, seen } = await aServer();
    const { egress } = anEgress();
    const ask = async (host: string) => (await egress.fetch(`http://${host}:${port}/`)).text();
    const hosts = ['a.example.test', 'b.example.test'];
    for (let round = 0; round < 4; round += 1) {
      for (const host of hosts) await ask(host);
    }
    expect(await failureOf(ask('c.test'))).toMatchObject({ code: 'egress_blocked' });
    const [ofA, ofB] = hosts.map(
      (host) =>
        new Set(
          seen.filter(({ headers }) => headers.host === `${host}:${port}`).map(({ from }) => from),
        ),
    );
    expect(seen.length).toBe(8);
    expect(ofA?.isDisjointFrom(ofB ?? new Set())).toBe(true);
    expect(ofA?.size).toBeLessThan(4);
  });

  it('is looked up again when its connection is more than a minute old', async () => {
    const { port, seen } = await aServer();
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { egress } = anEgress();
    const askOften = async () => {
      const before = seen.length;
      for (let times = 0; times < 4; times += 1) {
        await (await egress.fetch(`http://a.example.test:${port}/`)).text();
      }
      return new Set(seen.slice(before).map(({ from }) => from));
    };
    const young = await askOften();
    vi.setSystemTime(Date.now() + 60_000);
    expect(young.isDisjointFrom(await askOften())).toBe(false);
    vi.setSystemTime(Date.now() + 60_001);
    expect(young.isDisjointFrom(await askOften())).toBe(true);
  });

  it('that is not found fails unchanged, and is recorded as permitted', async () => {
    const { egress, records } = anEgress({
      lookup: () => Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' })),
    });
    const failure = await failureOf(
      egress.within(scope, () => egress.fetch('http://api.example.test/')),
    );
    expect(failure).toMatchObject({ cause: { code: 'ENOTFOUND' } });
    expect(records).toEqual([recorded('api.example.test', null)]);
  });

  it('that does not answer in time fails with a message', async () => {
    const { egress } = anEgress({
      lookup: () => new Promise(() => undefined),
      limits: { lookup: 20 },
    });
    expect(await failureOf(egress.fetch('http://api.example.test/'))).toMatchObject({
      code: 'egress_limit',
      message: 'egress stopped: api.example.test could not be resolved in 20 ms',
    });
  });
});
