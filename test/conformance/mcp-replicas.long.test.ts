import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { mcpClientAt, textIn } from '../helpers/mcp-client.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { startReplicas } from '../helpers/replicas.ts';
import { deferring } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.remove());

it('has one session at three daemons, where equal calls wait for one decision', async () => {
  const held = deferring({}, { on_stream_disconnect: 'keep' });
  const { a, b, c } = await startReplicas(server, { ...held, server: { mcp: true } });
  const agents = [a, b, c];
  let sent = 0;
  // Each request goes to the next daemon, as a load balancer without affinity has it.
  const client = await mcpClientAt(a.url, {
    fetch: (url, init) => {
      const agent = agents[sent % agents.length] ?? a;
      sent += 1;
      return fetch(String(url).replace(a.url, agent.url), init);
    },
  });
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
