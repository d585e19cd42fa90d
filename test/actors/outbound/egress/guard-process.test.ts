import { get } from 'node:http';
import { getGlobalDispatcher, request, fetch as undiciFetch } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { egressCause } from '../../../../src/actors/outbound/egress/egress.ts';
import { watchSockets } from '../../../helpers/socket-tripwire.ts';
import { aServer } from './a-server.ts';
import { anEgress, failureOf } from './an-egress.ts';

describe('a guarded process', () => {
  it('sends every fetch through the policy, and none after the guard is removed', async () => {
    const { port, seen } = await aServer();
    const before = { fetch: globalThis.fetch, dispatcher: getGlobalDispatcher() };
    const { egress, records } = anEgress();
    const release = egress.guardProcess();
    onTestFinished(release);
    const url = `http://127.0.0.1:${port}/`;
    const clients = [
      (to: string) => fetch(to),
      (to: string) => before.fetch(to),
      (to: string) => undiciFetch(to),
      (to: string) => request(to),
    ];
    for (const client of clients) {
      const failure = await failureOf(client(url));
      expect(egressCause(failure)).toMatchObject({ code: 'egress_blocked' });
      await client(`http://a.example.test:${port}/`);
    }
    expect(seen.length).toBe(clients.length);
    expect(records.map(({ domain, reason }) => [domain, reason])).toEqual(
      clients.flatMap(() => [
        ['127.0.0.1', 'is not on the allowlist'],
        ['a.example.test', null],
      ]),
    );
    release();
    expect(globalThis.fetch).toBe(before.fetch);
    expect(getGlobalDispatcher()).toBe(before.dispatcher);
    expect(await (await fetch(url)).text()).toBe('hello');
  });

  it('is reported by the tripwire for a connection around the policy', async () => {
    const { port } = await aServer();
    const other = await aServer();
    const bypasses = watchSockets();
    const { egress } = anEgress();
    await (await egress.fetch(`http://a.example.test:${port}/`)).text();
    expect(bypasses()).toEqual([]);
    const answered = Promise.withResolvers<void>();
    get(`http://127.0.0.1:${port}/`, (response) => response.resume().on('end', answered.resolve));
    await answered.promise;
    await (await fetch(`http://127.0.0.1:${other.port}/`)).text();
    expect(bypasses([other.port]).map(({ target }) => target)).toEqual([`127.0.0.1:${port}`]);
    expect(bypasses().length).toBe(2);
  });
});
