import { request } from 'undici';
import { expect, it } from 'vitest';
import { EgressError } from '../../../../src/actors/outbound/egress/egress.ts';
import type { OwnListeners } from '../../../../src/actors/outbound/egress/own-listeners.ts';
import { aServer } from './a-server.ts';
import { anEgress, failureOf, scope } from './an-egress.ts';
import { hearDials } from './hear-dials.ts';

/** A test cannot give this machine an address, so loopback stands for one that no interface lists. */
function unlisted(): OwnListeners {
  const ports = new Set<number>();
  return {
    add: ({ port }) => void ports.add(port),
    setFellows: () => undefined,
    closedAt: (address, port, from) =>
      ports.has(port) && address === from ? 'is the agent itself' : null,
  };
}

it('a task sends nothing over a connection that leads to the agent itself', async () => {
  const { port, seen } = await aServer();
  const dials = hearDials();
  const { egress, records } = anEgress({
    mode: 'dev-open',
    names: { 'a.test': ['127.0.0.1'] },
    listeners: unlisted(),
  });
  egress.listensAt({ address: '0.0.0.0', port });
  const url = `http://a.test:${port}/tasks/t/decisions`;
  const failures = [
    await failureOf(egress.within(scope, () => egress.fetch(url, { method: 'POST' }))),
    await failureOf(egress.within(scope, () => request(url, { dispatcher: egress.dispatcher }))),
    await failureOf(egress.connect({ hostname: 'a.test', port }, scope)),
  ];
  for (const failure of failures) {
    expect(failure).toBeInstanceOf(EgressError);
    expect(failure).toMatchObject({ message: 'egress blocked: a.test is the agent itself' });
  }
  expect(records.map(({ reason }) => reason)).toEqual(failures.map(() => 'is the agent itself'));
  expect(seen).toEqual([]);
  expect(dials.map(({ socket }) => socket.destroyed)).toEqual([true, true, true]);
  expect((await egress.fetch(url)).status).toBe(200);
});
