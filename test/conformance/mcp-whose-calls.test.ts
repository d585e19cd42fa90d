import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { expect, it, vi } from 'vitest';
import * as z from 'zod';
import type { AgentClient } from '../helpers/agent-client.ts';
import { agentResource, startIdentityProvider } from '../helpers/identity-provider.ts';
import { mcpClientAt, textIn } from '../helpers/mcp-client.ts';
import { patient } from '../helpers/patient.ts';
import { deferring, reached, startTestAgent } from '../helpers/test-agent.ts';

const ann = { decision: 'approve', approver: 'ann@example.com' };
const paid = '{"order":"A-1042"}';

interface Answer {
  content: { text: string }[];
  _meta: { task_id: string };
  message?: string;
}

/** Makes a call of `pay`, whose failure is its answer. */
function pay(client: Client, meta: Record<string, unknown> = {}): Promise<Answer> {
  const params = { name: 'pay', arguments: { order: 'A-1042' }, _meta: meta };
  const called: Promise<unknown> = client.callTool(params);
  return called.catch((error: unknown) => error) as Promise<Answer>;
}

const people = (...names: string[]) => ({
  required: true,
  providers: names.map((name) => ({
    type: 'static_token',
    name,
    settings: { token: `token-of-${name}`, identity: { user_id: name } },
  })),
});

async function waitingAt(agent: AgentClient): Promise<{ task_id: string; requests?: number }[]> {
  return (await agent.get('/deferrals')).body.deferrals;
}

it('an equal call needs a step-up, for any caller of the waiting one', async () => {
  const issuer = await startIdentityProvider();
  const { security } = deferring();
  const settings = { issuer: issuer.issuer, audience: agentResource };
  const agent = await startTestAgent({
    server: { mcp: true },
    security: { ...security, step_up: { enabled: true, tools: { pay: 'urn:high' } } },
    auth: { required: true, providers: [{ type: 'oidc', name: 'staff', settings }] },
  });
  const [high, low] = [
    await issuer.signIn('ann', 'urn:high'),
    await issuer.signIn('ann', 'urn:low'),
  ];
  const held = pay(await mcpClientAt(agent.url, { token: high }));
  await vi.waitFor(async () => expect(await waitingAt(agent.as(high))).toHaveLength(1), patient);
  const weak = await mcpClientAt(agent.url, { token: low });
  expect(await pay(weak)).toMatchObject({ code: -32040, data: { required_acr: 'urn:high' } });
  const [waiting, ...others] = await waitingAt(agent.as(high));
  expect([waiting?.requests, others]).toEqual([undefined, []]);
  await agent.as(high).decide(waiting?.task_id ?? '', ann);
  expect(textIn(await held)).toBe(paid);
  expect(agent.folder.paid).toHaveLength(1);
});

it("the id of another caller's task finds and ends no call", async () => {
  const agent = await startTestAgent({
    ...deferring(),
    server: { mcp: { answer_within: '100ms' } },
    auth: people('ann', 'bob'),
  });
  const own = await mcpClientAt(agent.url, { token: 'token-of-ann' });
  const { _meta: mark } = await pay(own);
  const other = await mcpClientAt(agent.url, { token: 'token-of-bob' });
  const found = await pay(other, { task_id: mark.task_id });
  expect(found.message).toContain(`task ${mark.task_id} is another call`);
  await other.close();
  const asAnn = agent.as('token-of-ann');
  expect(await asAnn.decide(mark.task_id, ann)).toMatchObject({ status: 200 });
  await reached(asAnn, mark.task_id, 'completed');
  expect(textIn(await pay(own, { task_id: mark.task_id }))).toBe(paid);
});

it("the outcome of an unknown call, or of another caller's, is not reported", async () => {
  const agent = await startTestAgent({
    ...deferring(),
    server: { mcp: true, task_access: 'requester' },
    auth: people('ann', 'bob'),
  });
  void pay(await mcpClientAt(agent.url, { token: 'token-of-ann' }), { task_id: 'of-ann' });
  await reached(agent.as('token-of-ann'), 'of-ann', 'deferred');
  const other = await mcpClientAt(agent.url, { token: 'token-of-bob' });
  const outcome = (task_id: string) =>
    other.request({ method: 'holdpoint/outcome', params: { task_id } } as never, z.looseObject({}));
  for (const id of ['of-ann', 'of-nobody']) {
    await expect(outcome(id)).rejects.toThrow('MCP error -32603: task not found');
  }
});

it('a call that was answered in time is kept when a client finds it again and disconnects', async () => {
  const agent = await startTestAgent({
    ...deferring(),
    server: { mcp: { answer_within: '100ms' } },
  });
  const { _meta: mark } = await pay(await mcpClientAt(agent.url));
  const again = await mcpClientAt(agent.url);
  void pay(again, { task_id: mark.task_id });
  await vi.waitFor(async () => {
    expect(await waitingAt(agent)).toMatchObject([{ task_id: mark.task_id, requests: 2 }]);
  }, patient);
  await again.close();
  expect(await agent.decide(mark.task_id, ann)).toMatchObject({ status: 200 });
  expect((await agent.reached(mark.task_id, 'completed')).status.state).toBe('completed');
});

it('a call is kept whose client disconnects while another one waits for its outcome', async () => {
  const agent = await startTestAgent({ ...deferring(), server: { mcp: true } });
  const first = await mcpClientAt(agent.url);
  void pay(first);
  await vi.waitFor(async () => expect(await waitingAt(agent)).toHaveLength(1), patient);
  const [waiting] = await waitingAt(agent);
  const id = waiting?.task_id ?? '';
  const second = await mcpClientAt(agent.url);
  const told: string[] = [];
  const params = { name: 'task_result', arguments: { task_id: id } };
  const outcome = second.callTool(params, undefined, {
    onprogress: ({ message = '' }) => void told.push(message),
  });
  await vi.waitFor(() => expect(told).toHaveLength(1), patient);
  await first.close();
  expect(await agent.decide(id, ann)).toMatchObject({ status: 200 });
  expect(textIn(await outcome)).toBe(paid);
});
