import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type ConnectPolicy,
  checkedConnector,
} from '../../../../src/actors/outbound/egress/checked-connect.ts';
import { EgressError } from '../../../../src/actors/outbound/egress/egress.ts';
import { dialLimits } from '../../../../src/actors/outbound/egress/limits.ts';
import { aServer } from './a-server.ts';
import { anEgress, failureOf, recorded, scope } from './an-egress.ts';
import { hearDials } from './hear-dials.ts';

type Target = Parameters<ReturnType<typeof checkedConnector>>[0];

/** A policy that opens loopback and finds it behind every name. */
function aConnectPolicy(policy: Partial<ConnectPolicy> = {}): ConnectPolicy {
  return {
    mode: 'allowlist',
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
    limits: dialLimits,
    checkAddress: () => null,
    mayBePrivate: () => false,
    closedAt: () => null,
    ...policy,
  };
}

/** What a connection to a target fails with; `null` when it opens. */
function connectTo(policy: ConnectPolicy, target: Target): Promise<Error | null> {
  const { promise, resolve } = Promise.withResolvers<Error | null>();
  checkedConnector(policy)(target, (error, socket) => {
    socket?.destroy();
    resolve(error);
  });
  return promise;
}

/** A server that takes the first words of a client, which are not encrypted, and hangs up. */
async function aListenerForHello(): Promise<{ port: string; hello: Promise<string> }> {
  const { promise: hello, resolve } = Promise.withResolvers<string>();
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => {
      resolve(bytes.toString('latin1'));
      socket.destroy();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  return { port: String((server.address() as AddressInfo).port), hello };
}

describe('a connection of the policy', () => {
  it.each([
    ['https:', '', 443],
    ['http:', '', 80],
    ['https:', '80', 80],
    ['http:', '8443', 8443],
  ])('over %s to the port %j is checked at %i', async (protocol, port, checked) => {
    const asked: unknown[] = [];
    const policy = aConnectPolicy({
      closedAt: (address, at) => {
        asked.push([address, at]);
        return 'is the agent itself';
      },
    });
    const failure = await connectTo(policy, { hostname: 'a.example.test', protocol, port });
    expect([failure, asked]).toEqual([
      new EgressError({ host: 'a.example.test', why: 'is the agent itself', mode: 'allowlist' }),
      [['127.0.0.1', checked]],
    ]);
  });

  it.each([
    ['a.example.test', 'b.example.test', ['a.example.test']],
    ['127.0.0.1', '127.0.0.1', []],
  ])('to %s, requested as %s, names %o and HTTP/1.1', async (hostname, host, named) => {
    const { port, hello } = await aListenerForHello();
    const target = { hostname, host, servername: 'b.example.test', protocol: 'https:' };
    await connectTo(aConnectPolicy(), { ...target, port });
    const said = await hello;
    const told = ['a.example.test', 'b.example.test', '127.0.0.1', '\x08http/1.1', '\x02h2'];
    expect(told.filter((name) => said.includes(name))).toEqual([...named, '\x08http/1.1']);
  });

  it.each(['10.9.9.9', undefined])(
    'that ends at %s, which was not checked, is closed',
    async (remoteAddress) => {
      const { port, seen } = await aServer();
      const dials = hearDials(({ socket }) =>
        Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress }),
      );
      const { egress, records } = anEgress();
      const why = 'was connected to an unchecked address';
      const failure = await failureOf(
        egress.within(scope, () => egress.fetch(`http://a.example.test:${port}/`)),
      );
      expect(failure).toEqual(new EgressError({ host: 'a.example.test', why, mode: 'allowlist' }));
      expect(records).toEqual([recorded('a.example.test', why)]);
      expect([dials.map(({ socket }) => socket.destroyed), seen]).toEqual([[true], []]);
    },
  );
});
