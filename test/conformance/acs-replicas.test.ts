import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { AcsClient, bashCall, secret } from '../helpers/acs-client.ts';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { startReplicas } from '../helpers/replicas.ts';

vi.setConfig({ testTimeout: 60_000 });

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.remove());

const settings = {
  gate: { tools: { Bash: {} }, acs: { secrets: { default: secret }, timeout: '20s' } },
  security: {
    defer: {
      enabled: true,
      tools: {
        Bash: [
          { when: 'args.command == "ls"', allow: true },
          { to: 'channel:console:*', timeout: '1h' },
        ],
      },
    },
  },
} as ServiceSettings;

const byName = (one: string, other: string) => one.localeCompare(other);

it('ACS daemons share a session: its handshake, its used requests and one chain', async () => {
  const { a, b, c } = await startReplicas(server, settings);
  const client = new AcsClient(a);
  await client.hello();
  const sent = client.envelope('steps/toolCallRequest', bashCall('ls'));
  const answers = await Promise.all([a, b, c].map((at) => client.through(at).post(sent)));
  const codes = answers.map(({ body }) => body.error?.code ?? body.result.decision);
  expect(codes.map(String).toSorted(byName)).toEqual(['-32005', '-32005', 'allow']);
  const steps = [a, b, c, a, b, c, a, b, c].map((at) => client.through(at).bash('ls'));
  const heads = (await Promise.all(steps)).map(({ chain_hash }) => chain_hash);
  expect(new Set(heads).size).toBe(9);
  const chained = a.audit().flatMap(({ event, fields }) => (event === 'acs_step' ? [fields] : []));
  const next = new Map(
    chained.map((fields) => [fields?.['previous_hash'], fields?.['entry_hash']]),
  );
  expect(next.size).toBe(10);
  const followed: unknown[] = [];
  for (let head = next.get(null); head !== undefined; head = next.get(head)) followed.push(head);
  expect(followed).toHaveLength(10);
});

it('ACS daemons hold a call at one, decide it at another, and release it to one request', async () => {
  const { a, b, c } = await startReplicas(server, settings);
  const client = new AcsClient(a);
  await client.hello();
  const asking = [a, b, c].map((at) => client.through(at).bash('rm -rf build'));
  const waiting = async () => (await c.get('/deferrals')).body.deferrals;
  const decide = async (decision: string) => {
    const [deferral] = await vi.waitUntil(
      async () => ((await waiting()).length > 0 ? waiting() : null),
      { timeout: 20_000, interval: 20 },
    );
    await b.post(`/holds/${deferral.task_id}/decisions`, { decision });
  };
  await decide('approve');
  expect((await Promise.race(asking)).decision).toBe('allow');
  await decide('reject');
  await decide('reject');
  const decisions = (await Promise.all(asking)).map(({ decision }) => decision);
  expect(decisions.toSorted(byName)).toEqual(['allow', 'deny', 'deny']);
});
