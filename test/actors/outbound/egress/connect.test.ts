import { getEventListeners, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { anEgress, failureOf, recorded, scope } from './an-egress.ts';
import { hearDials } from './hear-dials.ts';

/** A server that says hello over bare TCP and closes with the test. */
async function aListener(): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    open.add(socket.on('close', () => open.delete(socket)).on('error', () => undefined));
    socket.write('hello');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(async () => {
    const closed = new Promise((done) => server.close(done));
    for (const socket of open) socket.destroy();
    await closed;
  });
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

async function firstChunk(socket: Socket): Promise<string> {
  for await (const chunk of socket) return String(chunk);
  return '';
}

/** A connection that is being opened to a host whose address never comes. */
async function neverNamed() {
  const { port } = await aListener();
  const { egress } = anEgress({
    allowedDomains: [`*.example.test:${port}`],
    lookup: () => new Promise(() => undefined),
  });
  const stop = new AbortController();
  const again = () => egress.connect({ hostname: 'a.example.test', port }, scope, stop.signal);
  return { again, failure: failureOf(again()), stop };
}

describe('a plain connection', () => {
  it('opens to a checked address of a listed host and is recorded once', async () => {
    const { port } = await aListener();
    const { egress, records } = anEgress({ allowedDomains: [`*.example.test:${port}`] });
    const hop = { hostname: 'API.example.test', port };
    egress.checkHop({ protocol: 'https:', isTunnel: true, ...hop }, scope);
    const socket = await egress.connect(hop, scope);
    expect([socket.remoteAddress, await firstChunk(socket)]).toEqual(['127.0.0.1', 'hello']);
    socket.destroy();
    expect(records).toEqual([recorded('api.example.test', null)]);
  });

  it.each([
    ['elsewhere.test', 'elsewhere.test', 'is not on the allowlist'],
    ['0x7f.2', '127.0.0.2', 'is a loopback address'],
    ['private.example.test', 'private.example.test', 'resolves to a private address'],
    ['a b', 'a b', 'is no host'],
  ])('to %s is refused', async (hostname, domain, why) => {
    const { port, connections } = await aListener();
    const { egress, records } = anEgress({
      allowedDomains: [`*.example.test:${port}`, `127.0.0.2:${port}`],
      names: { 'private.example.test': ['127.0.0.1', '10.0.0.1'] },
    });
    expect(await failureOf(egress.connect({ hostname, port }, scope))).toMatchObject({
      code: 'egress_blocked',
      message: `egress blocked: ${domain} ${why} (mode=allowlist)`,
    });
    expect(records).toEqual([recorded(domain, why)]);
    expect(connections()).toBe(0);
  });

  it('that is refused by the host fails unchanged, and is recorded as permitted', async () => {
    const { egress, records } = anEgress({ allowedDomains: ['*.example.test:1'] });
    const hop = { hostname: 'a.example.test', port: 1 };
    expect(await failureOf(egress.connect(hop, scope))).toMatchObject({ code: 'ECONNREFUSED' });
    expect(records).toEqual([recorded('a.example.test', null)]);
  });

  it('is aborted by its signal', async () => {
    const { again, failure, stop } = await neverNamed();
    stop.abort(new Error('called off'));
    expect(await failure).toEqual(new Error('called off'));
    expect(await failureOf(again())).toEqual(new Error('called off'));
  });

  it('is closed when it opens after its abort', async () => {
    const { port } = await aListener();
    const { egress } = anEgress({ allowedDomains: [`*.example.test:${port}`] });
    const stop = new AbortController();
    const dials = hearDials(() => stop.abort(new Error('called off')));
    const hop = { hostname: 'a.example.test', port };
    expect(await failureOf(egress.connect(hop, scope, stop.signal))).toEqual(
      new Error('called off'),
    );
    const ends = dials.map(async ({ socket }) => socket.destroyed || once(socket, 'close'));
    expect((await Promise.all(ends)).length).toBe(1);
  });

  it('rejects with the reason of its signal, also when that is no error', async () => {
    const { failure, stop } = await neverNamed();
    stop.abort('called off');
    expect(await failure).toEqual(new Error('the connection failed', { cause: 'called off' }));
  });

  it.each([
    ['opened', 'a.example.test'],
    ['was refused', 'private.example.test'],
  ])('leaves no listener on its signal once it %s', async (_, hostname) => {
    const { port } = await aListener();
    const { egress } = anEgress({
      allowedDomains: [`*.example.test:${port}`],
      names: { 'private.example.test': ['10.0.0.1'] },
    });
    const { signal } = new AbortController();
    const opening = egress.connect({ hostname, port }, scope, signal);
    expect(getEventListeners(signal, 'abort').length).toBe(1);
    await Promise.allSettled([opening.then((socket) => socket.destroy())]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('is a tunnel, for which a host without a port is not listed', async () => {
    const { port, connections } = await aListener();
    const { egress, records } = anEgress();
    const why = `requests a tunnel to port ${port}, which no entry allows`;
    const hop = { hostname: 'a.example.test', port };
    expect(await failureOf(egress.connect(hop, scope))).toMatchObject({
      message: `egress blocked: a.example.test ${why} (mode=allowlist)`,
    });
    expect([records, connections()]).toEqual([[recorded('a.example.test', why)], 0]);
  });

  it('is closed when it cannot be recorded', async () => {
    const { port } = await aListener();
    const record = () => {
      throw new Error('the audit log is full');
    };
    const dials = hearDials();
    const { egress } = anEgress({ allowedDomains: [`*.example.test:${port}`], record });
    const hop = { hostname: 'a.example.test', port };
    expect(await failureOf(egress.connect(hop, scope))).toEqual(new Error('the audit log is full'));
    expect(dials.map(({ socket }) => socket.destroyed)).toEqual([true]);
  });
});
