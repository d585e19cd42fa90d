import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { deferring, startInFolder, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const held = deferring();
const auth = {
  required: true,
  providers: ['ann', 'bob'].map((name) => ({
    type: 'static_token',
    name,
    settings: { token: `the-token-of-${name}`, identity: { user_id: name } },
  })),
};

const server = { mcp: true, rate_limit: { write_rps: 1_000_000, write_burst: 1_000_000 } };

const headersOf = (token: string, session?: string) => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  ...(session === undefined ? {} : { 'mcp-session-id': session }),
});

/** Posts one message, and returns the answer with its body unread. */
function post(agent: TestAgent, token: string, message: object, session?: string) {
  return fetch(`${agent.url}/mcp`, {
    method: 'POST',
    headers: headersOf(token, session),
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
}

const greeting = {
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'burst', version: '1' },
  },
};

/** Begins a session by hand, and returns its id. */
async function greet(agent: TestAgent, token: string): Promise<string> {
  const answer = await post(agent, token, greeting);
  await answer.text();
  expect(answer.status).toBe(200);
  return answer.headers.get('mcp-session-id') ?? '';
}

it('a held call is kept, however many sessions others begin', async () => {
  const agent = await startTestAgent({ ...held, auth, server });
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${agent.url}/mcp`), {
    requestInit: { headers: { authorization: 'Bearer the-token-of-ann' } },
  });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  onTestFinished(() => client.close());
  const told: string[] = [];
  const called = client.callTool({ name: 'pay', arguments: { order: 'A-1042' } }, undefined, {
    onprogress: ({ message }) => void told.push(message ?? ''),
  });
  called.catch(() => undefined);
  await vi.waitUntil(() => told.length > 0, patient);
  const [, id = ''] = /\(task (.+)\)/.exec(told[0] ?? '') ?? [];
  for (let sent = 0; sent < 1_200; sent += 20) {
    await Promise.all(Array.from({ length: 20 }, () => greet(agent, 'the-token-of-bob')));
  }
  const ann = agent.as('the-token-of-ann');
  expect((await ann.get(`/tasks/${id}`)).body.status.state).toBe('deferred');
  const decision = { decision: 'approve', approver: 'ann@example.com' };
  expect((await ann.post(`/tasks/${id}/decisions`, decision)).status).toBe(200);
  expect((await called).content).toEqual([{ type: 'text', text: '{"order":"A-1042"}' }]);
}, 120_000);

it('the stream of a canceled call ends', async () => {
  const agent = await startTestAgent({ ...held, auth, server });
  const session = await greet(agent, 'the-token-of-ann');
  const called = { name: 'pay', arguments: {}, _meta: { progressToken: 1, task_id: 't1' } };
  const answer = await post(
    agent,
    'the-token-of-ann',
    { id: 7, method: 'tools/call', params: called },
    session,
  );
  const read = answer.text();
  await vi.waitFor(async () => {
    const { body } = await agent.as('the-token-of-ann').get('/tasks/t1');
    expect(body.status?.state).toBe('deferred');
  }, patient);
  const params = { requestId: 7, reason: 'never mind' };
  const cancel = { method: 'notifications/cancelled', params };
  expect((await post(agent, 'the-token-of-ann', cancel, session)).status).toBe(202);
  // No answer is due to what was called off, but its stream has an end.
  expect(await read).not.toContain('"result"');
  const { body } = await agent.as('the-token-of-ann').get('/tasks/t1');
  expect(body.status.state).toBe('canceled');
});

it('an extremely long message id is refused', async () => {
  const agent = await startTestAgent({ auth, server });
  const answer = await post(agent, 'the-token-of-ann', { ...greeting, id: 'x'.repeat(257) });
  expect([answer.status, await answer.json()]).toEqual([
    400,
    { error: 'the id of a JSON-RPC message has at most 256 characters', code: 'invalid_body' },
  ]);
});

it('an extremely long initialization is refused', async () => {
  const agent = await startTestAgent({ auth, server });
  const clientInfo = { name: 'n'.repeat(1_900_000), version: '1' };
  const long = { ...greeting, params: { ...greeting.params, clientInfo } };
  const answer = await post(agent, 'the-token-of-ann', long);
  expect([answer.status, await answer.json()]).toEqual([
    413,
    { error: 'the body is longer than 16384 bytes', code: 'body_too_large' },
  ]);
});

const list = { id: 2, method: 'tools/list' };
const noSession = {
  error: 'there is no such session; begin another with initialize',
  code: 'mcp_session_not_found',
};

it('a session of the earlier daemon is answered, for its owner only', async () => {
  const folder = new AgentFolder({ ...held, auth, server });
  onTestFinished(() => folder.remove());
  const first = await startInFolder(folder);
  const session = await greet(first, 'the-token-of-ann');
  const ended = await greet(first, 'the-token-of-ann');
  const headers = headersOf('the-token-of-ann', ended);
  expect((await fetch(`${first.url}/mcp`, { method: 'DELETE', headers })).status).toBe(200);
  expect((await post(first, 'the-token-of-ann', list, ended)).status).toBe(404);
  await first.stop();
  const second = await startInFolder(folder);
  expect(session).toMatch(/^[\x21-\x7e]{1,128}$/);
  const answer = await post(second, 'the-token-of-ann', list, session);
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"pay"')]);
  const stolen = await post(second, 'the-token-of-bob', list, session);
  expect([stolen.status, await stolen.json()]).toEqual([404, noSession]);
  // An id grants nothing, so one that was ended is valid again at a daemon that did not see its end.
  expect((await post(second, 'the-token-of-ann', list, ended)).status).toBe(200);
});

it('an id that another agent signed is refused', async () => {
  const [agent, other] = [
    await startTestAgent({ auth, server }),
    await startTestAgent({ auth, server }),
  ];
  const session = await greet(other, 'the-token-of-ann');
  const answer = await post(agent, 'the-token-of-ann', list, session);
  expect([answer.status, await answer.json()]).toEqual([404, noSession]);
});
