import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { json, type KeyServer, startKeyServer } from './key-server.ts';
import { verifying } from './verifying.ts';

const passes = 'verified';
const unsigned = 'the token is not signed by its issuer; sign in again';
const unavailable = 'the identity provider staff cannot be asked for its keys; try again later';

beforeEach(() => {
  // The library that keeps the keys reads the time from Date alone.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  onTestFinished(() => void vi.useRealTimers());
});

function pass(seconds: number): void {
  vi.setSystemTime(Date.now() + seconds * 1_000);
}

/** A way to show tokens to a verifier, and what it says of each. */
function showingTo(server: KeyServer, settings: object = {}) {
  const verifier = verifying({ issuer: server.issuer, ...settings });
  const show = async (kid?: string, header?: object) => {
    const exp = Math.floor(Date.now() / 1_000) + 86_400;
    const verdict = await verifier.verify(await server.sign({ exp }, kid, header));
    return verdict?.kind === 'rejected' ? verdict.message : verdict?.kind;
  };
  return { show, log: verifier.log };
}

describe('the keys of an issuer', () => {
  it('are fetched once, when the first token needs them, for any number of concurrent tokens', async () => {
    const server = await startKeyServer();
    const { show } = showingTo(server);
    expect(server.asked).toEqual({ metadata: 0, keys: 0 });
    expect(await Promise.all(Array.from({ length: 20 }, () => show()))).toEqual(
      Array(20).fill(passes),
    );
    expect(await show()).toBe(passes);
    expect(server.asked).toEqual({ metadata: 1, keys: 1 });
  });

  it('are fetched from jwks_url when it is set', async () => {
    const server = await startKeyServer();
    const { show } = showingTo(server, { jwks_url: `${server.issuer}/keys` });
    expect(await show()).toBe(passes);
    expect(server.asked).toEqual({ metadata: 0, keys: 1 });
  });

  it('are discovered at the well-known path of an issuer with a path', async () => {
    const server = await startKeyServer();
    const issuer = `${server.issuer}/`;
    server.metadata = json({ issuer, jwks_uri: `${server.issuer}/keys` });
    const verdict = await verifying({ issuer }).verify(await server.sign({ iss: issuer }));
    expect(verdict?.kind).toBe(passes);
    expect(server.asked).toEqual({ metadata: 1, keys: 1 });
  });

  it('are fetched again for an unknown key, at most once in 30 s', async () => {
    const server = await startKeyServer();
    const { show } = showingTo(server);
    const storm = () =>
      Promise.all(Array.from({ length: 50 }, (_, index) => show('k1', { kid: `x${index}` })));
    expect(new Set(await storm())).toEqual(new Set([unsigned]));
    expect(server.asked).toEqual({ metadata: 1, keys: 1 });

    await server.addKey('k2');
    pass(29);
    expect(await show('k2')).toBe(unsigned);
    expect(server.asked.keys).toBe(1);
    pass(2);
    expect(await show('k2')).toBe(passes);
    await storm();
    expect(server.asked).toEqual({ metadata: 1, keys: 2 });
  });

  it('are fetched again when they are too old, so that a revoked key expires', async () => {
    const server = await startKeyServer();
    const { show } = showingTo(server, { jwks_cache_ttl: '10m' });
    await show();
    server.keys = json({ keys: [] });
    pass(599);
    expect(await show()).toBe(passes);
    pass(2);
    expect(await show()).toBe(unsigned);
    expect(server.asked).toEqual({ metadata: 1, keys: 2 });
  });

  it('stay valid while they are fresh, although the issuer is down', async () => {
    const server = await startKeyServer();
    const { show } = showingTo(server, { jwks_cache_ttl: '10m' });
    await show();
    server.keys = json({}, 500);
    pass(60);
    expect(await show('k1', { kid: 'unknown' })).toBe(unavailable);
    expect(await show()).toBe(passes);
    pass(541);
    expect(await show()).toBe(unavailable);
  });

  it('are fetched from their new address after the old one fails', async () => {
    const server = await startKeyServer();
    const { show } = showingTo(server, { jwks_cache_ttl: '10m' });
    await show();
    server.metadata = json({ issuer: server.issuer, jwks_uri: `${server.issuer}/new-keys` });
    const answer = server.keys;
    server.keys = (response) =>
      (response.req.url === '/new-keys' ? answer : json({}, 404))(response);
    pass(601);
    expect(await show()).toBe(unavailable);
    pass(6);
    expect(await show()).toBe(passes);
    expect(server.asked).toEqual({ metadata: 2, keys: 3 });
  });
});

describe('an issuer whose keys cannot be fetched', () => {
  const huge = (response: ServerResponse) => {
    response.writeHead(200);
    response.end(`{"keys":[],"x":"${'x'.repeat(256 * 1024)}"}`);
  };

  it.each<[string, (server: KeyServer) => void | Promise<void>]>([
    ['answers its keys with an error', (server) => void (server.keys = json({ keys: [] }, 500))],
    ['answers its keys with 204', (server) => void (server.keys = json('', 204))],
    [
      'redirects to other keys',
      (server) => {
        server.keys = (response) => {
          if (response.req.url === '/keys') {
            response.writeHead(302, { location: '/other' });
            response.end();
          } else json({ keys: [] })(response);
        };
      },
    ],
    ['answers no JSON', (server) => void (server.keys = (response) => void response.end('<p>'))],
    ['answers no key set', (server) => void (server.keys = json({ keys: 'none' }))],
    ['sends an endless answer', (server) => void (server.keys = huge)],
    ['hangs up', (server) => void (server.keys = (response) => void response.destroy())],
    [
      'closes the connection half-way',
      (server) => {
        server.keys = (response) => {
          response.writeHead(200, { 'content-length': '100' });
          response.write('{"keys":', () => response.destroy());
        };
      },
    ],
    ['has no metadata', (server) => void (server.metadata = json({}, 404))],
    ['has empty metadata', (server) => void (server.metadata = json({}))],
    ['sends endless metadata', (server) => void (server.metadata = huge)],
    [
      'names another issuer',
      (server) => {
        const { issuer } = server;
        server.metadata = json({ issuer: `${issuer}/`, jwks_uri: `${issuer}/keys` });
      },
    ],
    [
      'refers to keys over plain http on another host',
      async (server) => {
        const { issuer: elsewhere } = await startKeyServer();
        server.metadata = json({ issuer: server.issuer, jwks_uri: `${elsewhere}/keys` });
      },
    ],
    [
      'refers to keys in a file',
      (server) => {
        server.metadata = json({ issuer: server.issuer, jwks_uri: 'file:///etc/passwd' });
      },
    ],
  ])(
    'refuses the token when it %s, and is not asked again for five seconds',
    async (_name, breakIt) => {
      const server = await startKeyServer();
      const { metadata, keys } = server;
      const { show, log } = showingTo(server);
      await breakIt(server);
      expect(await Promise.all([show(), show()])).toEqual([unavailable, unavailable]);
      const asked = { ...server.asked };
      expect(asked.metadata + asked.keys).toBeLessThanOrEqual(2);
      pass(4);
      expect(await show()).toBe(unavailable);
      expect(server.asked).toEqual(asked);
      expect(log).toEqual([
        {
          level: 'warn',
          fields: { provider: 'staff', error: expect.any(Error) },
          message: 'authentication: the keys of an issuer are unavailable',
        },
      ]);
      Object.assign(server, { metadata, keys });
      pass(2);
      expect(await show()).toBe(passes);
    },
  );

  it('refuses the token when it is not reachable', async () => {
    const server = await startKeyServer();
    const { show } = showingTo(server, { jwks_url: 'http://127.0.0.1:1/keys' });
    expect(await show()).toBe(unavailable);
  });

  it.each<[string, (server: KeyServer) => void]>([
    ['keys', (server) => void (server.keys = (response) => void response.write('{'))],
    ['metadata', (server) => void (server.metadata = () => undefined)],
  ])('times out after five seconds for its %s', { concurrent: true }, async (_name, stall) => {
    const server = await startKeyServer();
    const { show } = showingTo(server);
    stall(server);
    const start = performance.now();
    expect(await show()).toBe(unavailable);
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});
