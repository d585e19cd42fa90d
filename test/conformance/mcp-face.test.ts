import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  canary,
  denial,
  says,
  startFakePlatform,
} from '../actors/access/admission/fake-platform.ts';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { rawRequest } from '../helpers/raw-request.ts';
import {
  deferring,
  expectIntact,
  startInFolder,
  startTestAgent,
  type TestAgent,
} from '../helpers/test-agent.ts';

const ann = { decision: 'approve', approver: 'ann@example.com' };

const shown = (settings: ServiceSettings = {}): ServiceSettings => ({
  ...settings,
  server: { mcp: true, ...settings.server },
});

/** A client of the SDK. */
async function mcpClient(agent: TestAgent, token?: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const headers: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(`${agent.url}/mcp`), {
    requestInit: { headers },
  });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  onTestFinished(() => client.close());
  return client;
}

/** Begins a call that is held; `progress` is what its client has heard. */
async function heldCall(agent: TestAgent, client: Client, options: object = {}) {
  const progress: (Progress & { _meta?: { task_id: string } })[] = [];
  const called = client.callTool({ name: 'pay', arguments: { order: 'A-1042' } }, undefined, {
    onprogress: (told) => void progress.push(told),
    ...options,
  });
  called.catch(() => undefined);
  await vi.waitUntil(() => progress.length > 0, patient);
  const id = progress[0]?._meta?.task_id ?? '';
  await agent.reached(id, 'deferred');
  return { called, progress, id };
}

describe('the MCP endpoint', () => {
  it('is off by default', async () => {
    const agent = await startTestAgent();
    expect((await agent.post('/mcp', {})).status).toBe(404);
  });

  it('lists the tools of the agent except denied ones', async () => {
    const guardrails = { enabled: true, denied_tools: ['hold'] };
    const agent = await startTestAgent(shown({ security: { guardrails } as object }));
    const client = await mcpClient(agent);
    expect(client.getServerVersion()).toEqual({ name: 'till', version: '0.0.0' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(['break', 'echo', 'grant', 'pay']);
    expect(tools.find(({ name }) => name === 'pay')).toEqual({
      name: 'pay',
      description: 'Does what pay does.',
      inputSchema: { type: 'object' },
    });
  });

  it('makes each call a task, governed and audited like any other', async () => {
    const agent = await startTestAgent(shown());
    const client = await mcpClient(agent);
    const result = await client.callTool({ name: 'echo', arguments: { a: '{result}' } });
    const { task_id: id } = result._meta as { task_id: string };
    expect(result).toEqual({
      content: [{ type: 'text', text: '{"a":"{result}"}' }],
      _meta: { task_id: id },
    });
    expect((await agent.get(`/tasks/${id}`)).body).toMatchObject({
      status: { state: 'completed' },
      history: [{ parts: [{ kind: 'data', data: { tool: 'echo', args: { a: '{result}' } } }] }, {}],
    });
    const events = ['session_start', 'call_ruled', 'tool_exec', 'tool_exec', 'session_end'];
    expect(agent.audit(id).map(({ event }) => event)).toEqual(events);
    await expectIntact(agent.auditPath);
  });

  it('distinguishes a failed or denied call from a successful one', async () => {
    const guardrails = { enabled: true, denied_tools: ['hold'] };
    const agent = await startTestAgent(shown({ security: { guardrails } as object }));
    const client = await mcpClient(agent);
    const told = async (name: string) => {
      const { content, isError } = await client.callTool({ name, arguments: {} });
      return [(content as { text: string }[])[0]?.text, isError];
    };
    expect(await told('break')).toEqual(['break failed with exit code 3: the till is stuck', true]);
    expect(await told('hold')).toEqual([expect.stringContaining('denied'), true]);
    expect(await told('steal')).toEqual(['unknown tool: steal', true]);
  });

  it('runs no script that is hidden in the arguments', async () => {
    const agent = await startTestAgent(shown());
    const client = await mcpClient(agent);
    const result = await client.callTool({
      name: 'echo',
      arguments: { script: [{ tool: 'pay', args: {} }] },
    });
    expect(result.content).toEqual([
      { type: 'text', text: '{"script":[{"tool":"pay","args":{}}]}' },
    ]);
    expect(agent.folder.paid).toEqual([]);
  });
});

describe('a held call over MCP', () => {
  it('reports the id of its task to its client, and runs once it is released', async () => {
    const agent = await startTestAgent(shown(deferring()));
    const client = await mcpClient(agent);
    const { called, progress, id } = await heldCall(agent, client);
    expect(progress).toEqual([
      {
        progress: 1,
        message: `Deferred: awaiting channel:console:desk decision on pay (task ${id})`,
        _meta: {
          task_id: id,
          'holdpoint/waits': { for: 'channel:console:desk', until: expect.any(String) },
        },
      },
    ]);
    expect(agent.folder.paid).toEqual([]);
    expect((await agent.post(`/tasks/${id}/decisions`, ann)).status).toBe(200);
    expect(await called).toEqual({
      content: [{ type: 'text', text: '{"order":"A-1042"}' }],
      _meta: { task_id: id },
    });
    expect(agent.folder.paid).toHaveLength(1);
  });

  it('counts among the waiting calls of its caller, and one above the limit is denied', async () => {
    const agent = await startTestAgent(shown(deferring({}, { max_pending_per_caller: 1 })));
    const client = await mcpClient(agent);
    await heldCall(agent, client);
    await expect(
      client.callTool({ name: 'pay', arguments: { order: 'B-7' } }),
    ).rejects.toMatchObject({
      code: -32000,
      message: expect.stringContaining(
        'denied: 1 call of this caller already wait for a decision, the most that security.defer.max_pending_per_caller allows; decide or cancel some, and try again',
      ),
    });
  });

  it.each(['fail', 'tool_result'])(
    'is an error once it is rejected (on_reject: %s)',
    async (on_reject) => {
      const agent = await startTestAgent(shown(deferring({}, { on_reject })));
      const { called, id } = await heldCall(agent, await mcpClient(agent));
      await agent.post(`/tasks/${id}/decisions`, { ...ann, decision: 'reject', note: 'too much' });
      expect(await called).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('rejected by ann@example.com: too much') }],
      });
      expect(agent.folder.paid).toEqual([]);
    },
  );

  it('can be canceled by its client', async () => {
    const agent = await startTestAgent(shown(deferring({}, { on_stream_disconnect: 'keep' })));
    const stop = new AbortController();
    const { id } = await heldCall(agent, await mcpClient(agent), { signal: stop.signal });
    stop.abort('the user has changed her mind');
    const { status } = await agent.reached(id, 'canceled');
    expect(status.message.parts[0].text).toBe('canceled: the user has changed her mind');
  });

  it('is abandoned when its client disconnects', async () => {
    const agent = await startTestAgent(shown(deferring()));
    const client = await mcpClient(agent);
    const { id } = await heldCall(agent, client);
    await client.close();
    const { status } = await agent.reached(id, 'failed');
    expect(status.message.parts[0].text).toBe('defer: abandoned, caller disconnected');
  });

  it("outlives its client's timeout, and is found again by its id", async () => {
    const agent = await startTestAgent(shown(deferring({}, { on_stream_disconnect: 'keep' })));
    const client = await mcpClient(agent);
    const { called, id } = await heldCall(agent, client, { timeout: 1_000 });
    await expect(called).rejects.toThrow('Request timed out');
    expect((await agent.get(`/tasks/${id}`)).body.status.state).toBe('deferred');
    const again = client.callTool({
      name: 'pay',
      arguments: { order: 'A-1042' },
      _meta: { task_id: id },
    });
    const other = client.callTool({
      name: 'pay',
      arguments: { order: 'B-7' },
      _meta: { task_id: id },
    });
    await expect(other).rejects.toThrow(`task ${id} is another call; leave _meta.task_id out`);
    await agent.post(`/tasks/${id}/decisions`, ann);
    const answer = {
      content: [{ type: 'text', text: '{"order":"A-1042"}' }],
      _meta: { task_id: id },
    };
    expect(await again).toEqual(answer);
    // The same call under its id is made once, however often it is asked for.
    expect(
      await client.callTool({
        name: 'pay',
        arguments: { order: 'A-1042' },
        _meta: { task_id: id },
      }),
    ).toEqual(answer);
    expect(agent.folder.paid).toHaveLength(1);
  });

  it('is found again by its id after a restart of the agent', async () => {
    const held = deferring({}, { on_restart: 'resume', on_stream_disconnect: 'keep' });
    const folder = new AgentFolder(shown(held));
    onTestFinished(() => folder.remove());
    const first = await startInFolder(folder);
    const { called, id } = await heldCall(first, await mcpClient(first));
    await first.stop();
    await expect(called).rejects.toThrow();
    const second = await startInFolder(folder);
    const client = await mcpClient(second);
    const again = client.callTool({
      name: 'pay',
      arguments: { order: 'A-1042' },
      _meta: { task_id: id },
    });
    await second.reached(id, 'deferred');
    expect((await second.post(`/tasks/${id}/decisions`, ann)).status).toBe(200);
    expect(await again).toEqual({
      content: [{ type: 'text', text: '{"order":"A-1042"}' }],
      _meta: { task_id: id },
    });
    expect(folder.paid).toHaveLength(1);
  });

  it('ends the wait of its client when the agent stops', async () => {
    const agent = await startTestAgent(shown(deferring()));
    const { called } = await heldCall(agent, await mcpClient(agent));
    await agent.stop();
    await expect(called).rejects.toThrow(/shutting down|closed|terminated/);
  });
});

const foreignPage = 'pages of this origin may not call; list it in server.cors_origins';
const foreignHost =
  'without a token the agent answers to no such host name; call it by its address, sign in, or set server.public_url';

const tokens = {
  required: true,
  providers: ['ann', 'bob'].map((name) => ({
    type: 'static_token',
    name,
    settings: { token: `the-token-of-${name}`, identity: { user_id: name } },
  })),
};

describe('access to the MCP endpoint', () => {
  it('requires a sign-in', async () => {
    const agent = await startTestAgent(shown({ auth: tokens }));
    await expect(mcpClient(agent)).rejects.toThrow(/401|unauthorized/i);
  });

  it('separates the sessions and the tasks of callers', async () => {
    const server = { task_access: 'requester' };
    const agent = await startTestAgent(shown({ auth: tokens, server }));
    const client = await mcpClient(agent, 'the-token-of-ann');
    const called = client.callTool({ name: 'echo', arguments: {} });
    const { task_id: id } = (await called)._meta as { task_id: string };
    const session = (client.transport as StreamableHTTPClientTransport).sessionId ?? '';
    const message = { jsonrpc: '2.0', id: 9, method: 'tools/list' };
    const answer = await fetch(`${agent.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer the-token-of-bob',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': session,
      },
      body: JSON.stringify(message),
    });
    expect([answer.status, await answer.json()]).toEqual([
      404,
      {
        error: 'there is no such session; begin another with initialize',
        code: 'mcp_session_not_found',
      },
    ]);
    const bob = await mcpClient(agent, 'the-token-of-bob');
    const stolen = bob.callTool({ name: 'echo', arguments: {}, _meta: { task_id: id } });
    await expect(stolen).rejects.toThrow('task not found');
  });

  it.each([
    ['another origin', { origin: 'http://evil.example' }, foreignPage],
    ['an opaque origin', { origin: 'null' }, foreignPage],
    ['a rebound name', { host: 'evil.example:8080' }, foreignHost],
  ])('is refused for a page from %s', async (_, headers, error) => {
    const agent = await startTestAgent(shown());
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize' });
    const lines = Object.entries({
      host: new URL(agent.url).host,
      connection: 'close',
      'content-type': 'application/json',
      'content-length': String(body.length),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    const request = `POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
    const answer = await rawRequest(agent.url, request);
    expect([answer.status, JSON.parse(answer.body).error]).toEqual([403, error]);
  });

  it('reports a required step-up as a JSON-RPC error', async () => {
    const step_up = { enabled: true, tools: { pay: 'high' } };
    const agent = await startTestAgent(shown({ auth: tokens, security: { step_up } }));
    const client = await mcpClient(agent, 'the-token-of-ann');
    const called = client.callTool({ name: 'pay', arguments: {} });
    await expect(called).rejects.toMatchObject({
      code: -32040,
      data: {
        error: 'step_up_required',
        tool: 'pay',
        required_acr: 'high',
        reason: 'no acr claim presented',
      },
    });
    expect(agent.folder.paid).toEqual([]);
  });

  it('asks the platform for admission of each call, and of no other message', async () => {
    const platform = await startFakePlatform();
    const folder = new AgentFolder(shown());
    onTestFinished(() => folder.remove());
    const agent = await startInFolder(folder, {
      SERVICE_ADMISSION_URL: `${platform.url}/v1/admission`,
      SERVICE_PLATFORM_TOKEN: canary,
    });
    platform.reply = says({ ...denial, decision: 'deny' });
    const client = await mcpClient(agent);
    await client.listTools();
    expect(platform.calls).toEqual([]);
    const called = client.callTool({ name: 'pay', arguments: {} });
    await expect(called).rejects.toThrow('admission_denied');
    expect([platform.calls.length, folder.paid]).toEqual([1, []]);
  });

  it('is described with the rest of the surface', async () => {
    const agent = await startTestAgent(shown());
    const { paths } = (await agent.get('/openapi.json')).body;
    expect(Object.keys(paths['/mcp'])).toEqual(['post', 'get', 'delete']);
  });

  it('answers a notification with 202, and ends a session permanently', async () => {
    const agent = await startTestAgent(shown());
    const client = await mcpClient(agent);
    const session = (client.transport as StreamableHTTPClientTransport).sessionId ?? '';
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': session,
    };
    const said = async (method: string, body?: object) => {
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const { status } = await fetch(`${agent.url}/mcp`, init);
      return status;
    };
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: {} };
    expect(await said('POST', cancelled)).toBe(202);
    expect(await said('DELETE')).toBe(200);
    expect(await said('POST', cancelled)).toBe(404);
  });

  it('refuses an id that a task may not have', async () => {
    const agent = await startTestAgent(shown());
    const client = await mcpClient(agent);
    const called = client.callTool({ name: 'echo', arguments: {}, _meta: { task_id: '../x' } });
    await expect(called).rejects.toThrow('_meta.task_id is not the id of a task');
  });

  it('accepts one message at a time, and none without its session', async () => {
    const agent = await startTestAgent(shown());
    expect(
      await agent.post('/mcp', [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }]),
    ).toMatchObject({
      status: 400,
      body: { error: 'send one JSON-RPC message as the body', code: 'invalid_body' },
    });
    expect(await agent.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' })).toMatchObject(
      {
        status: 400,
        body: {
          error: 'send the Mcp-Session-Id that initialize was answered with',
          code: 'mcp_session_required',
        },
      },
    );
  });
});
