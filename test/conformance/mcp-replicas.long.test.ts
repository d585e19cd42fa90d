import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { mcpClientAt, textIn } from '../helpers/mcp-client.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { type Replicas, startReplicas } from '../helpers/replicas.ts';
import { deferring } from '../helpers/test-agent.ts';
import { startTokenIssuer } from '../helpers/token-issuer.ts';
import { startToolServer } from '../helpers/tool-server.ts';

vi.setConfig({ testTimeout: 60_000 });

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.remove());

/** A client each of whose requests goes to the next daemon, as a load balancer without affinity has it. */
function balancedClient({ a, b, c }: Replicas, token?: string): Promise<Client> {
  const agents = [a, b, c];
  let sent = 0;
  return mcpClientAt(a.url, {
    ...(token === undefined ? {} : { token }),
    fetch: (url, init) => {
      const agent = agents[sent % agents.length] ?? a;
      sent += 1;
      return fetch(String(url).replace(a.url, agent.url), init);
    },
  });
}

it('three daemons have one session, in which equal calls wait for one decision', async () => {
  const held = deferring({}, { on_stream_disconnect: 'keep' });
  const replicas = await startReplicas(server, { ...held, server: { mcp: true } });
  const { a, b, c } = replicas;
  const agents = [a, b, c];
  const client = await balancedClient(replicas);
  for (const order of ['A-1', 'A-2', 'A-3']) {
    const calls = Array.from({ length: 30 }, () =>
      client.callTool({ name: 'pay', arguments: { order } }),
    );
    for (const call of calls) call.catch(() => undefined);
    const waiting = async () => (await b.get('/deferrals')).body.deferrals;
    await vi.waitFor(async () => expect((await waiting())[0]?.requests).toBe(30), patient);
    const all = await waiting();
    expect(all).toHaveLength(1);
    const decision = { decision: 'approve', approver: 'ann@example.com' };
    expect((await c.post(`/tasks/${all[0].task_id}/decisions`, decision)).status).toBe(200);
    const answers = await Promise.all(calls);
    expect(answers.map(textIn)).toEqual(answers.map(() => JSON.stringify({ order })));
  }
  expect(agents.flatMap(({ folder }) => folder.paid)).toHaveLength(3);
  // What calls a call off reaches another daemon than the call.
  const stop = new AbortController();
  const params = { name: 'pay', arguments: {}, _meta: { task_id: 'called-off' } };
  const called = client.callTool(params, undefined, { signal: stop.signal });
  called.catch(() => undefined);
  await a.reached('called-off', 'deferred');
  stop.abort('the user has changed her mind');
  const { status } = await b.reached('called-off', 'canceled');
  expect(status.message.parts[0].text).toBe('canceled: the user has changed her mind');
});

it('three daemons are one gateway, and share the token of a server', async () => {
  const issuer = await startTokenIssuer();
  const shop = await startToolServer(['find_order', 'refund']);
  shop.instead = ({ headers }, response) => {
    if (headers.authorization === `Bearer ${issuer.latest}`) return false;
    response.writeHead(401).end();
    return true;
  };
  const client = { client_id: 'desk', client_secret: 'secret-of-the-client' };
  const auth = { type: 'client_credentials', ...client, issuer: issuer.issuer };
  const person = (name: string, groups: string[]) => ({
    type: 'static_token',
    name,
    groups_claim: 'groups',
    settings: { token: `token-of-${name}`, identity: { user_id: name, claims: { groups } } },
  });
  const rule = { to: 'channel:console:desk', timeout: '5m', optional: true };
  const replicas = await startReplicas(server, {
    gate: {},
    server: { mcp: { answer_within: '100ms' }, task_access: 'requester' },
    auth: { required: true, providers: [person('sue', ['support']), person('finn', [])] },
    mcp: {
      servers: [{ name: 'shop', url: shop.url, tools: { deny: [] }, auth }],
      views: [{ for: 'group:support', tools: { allow: ['shop__*'] } }],
    },
    security: { defer: { enabled: true, tools: { shop__refund: rule } } },
  });
  const { a, b, c } = replicas;
  expect(issuer.asked).toHaveLength(1);
  const sue = await balancedClient(replicas, 'token-of-sue');
  const lists = [];
  for (let round = 0; round < 3; round += 1) {
    lists.push((await sue.listTools()).tools.map(({ name }) => name).toSorted());
  }
  const names = ['shop__find_order', 'shop__refund', 'task_result'];
  expect(lists).toEqual([names, names, names]);
  const found = Array.from({ length: 30 }, (_, order) =>
    sue.callTool({ name: 'shop__find_order', arguments: { order: `A-${order}` } }),
  );
  expect((await Promise.all(found)).map(textIn)).toEqual(
    found.map((_, order) => `find_order {"order":"A-${order}"}`),
  );
  const held = await sue.callTool({ name: 'shop__refund', arguments: { order: 'A-1' } });
  const { task_id } = held._meta as { task_id: string };
  const finn = await balancedClient(replicas, 'token-of-finn');
  for (let round = 0; round < 3; round += 1) {
    expect((await finn.listTools()).tools.map(({ name }) => name)).toEqual([]);
    const refused = await finn.callTool({ name: 'task_result', arguments: { task_id } });
    expect(textIn(refused)).toMatch(/^there is no call with this task_id/);
  }
  // The issuer revokes the token: the daemons renew it once together.
  await fetch(`${issuer.issuer}/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const again = Array.from({ length: 9 }, (_, order) =>
    sue.callTool({ name: 'shop__find_order', arguments: { order: `B-${order}` } }),
  );
  expect((await Promise.all(again)).map(textIn)).toEqual(
    again.map((_, order) => `find_order {"order":"B-${order}"}`),
  );
  expect(issuer.asked).toHaveLength(3);
  const approve = { decision: 'approve', approver: 'ann@example.com' };
  expect(await b.as(b.token).decide(task_id, approve)).toMatchObject({ status: 200 });
  await vi.waitFor(async () => {
    const outcome = await sue.callTool({ name: 'task_result', arguments: { task_id } });
    expect(textIn(outcome)).toBe('refund {"order":"A-1"}');
  }, patient);
  expect(shop.ran.filter(([tool]) => tool === 'refund')).toHaveLength(1);
  // A daemon in a new folder trusts what the others have accepted, and not what the server offers by now.
  shop.tools = ['find_order', 'refund', 'pay'];
  const joined = await replicas.join();
  const { servers } = (await joined.as(joined.token).get('/mcp-servers')).body;
  expect(servers[0].tools.map(({ name, standing }: any) => [name, standing])).toEqual([
    ...[
      ['find_order', 'accepted'],
      ['refund', 'accepted'],
      ['pay', 'new'],
    ],
  ]);
  expect([a, b, c].flatMap(({ log }) => log.filter(({ level }) => level === 'error'))).toEqual([]);
});
