import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { acceptsTasks, type ModernMcp, modernMcp, showsLinks } from '../helpers/modern-mcp.ts';
import { patient } from '../helpers/patient.ts';
import { deferring, startInFolder, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const approve = { decision: 'approve', approver: 'ann@example.com' };
const reject = { decision: 'reject', approver: 'ann@example.com', note: 'paid last week' };

const callers = {
  required: true,
  providers: ['ann', 'bob'].map((name) => ({
    type: 'static_token',
    name,
    settings: { token: `the-token-of-${name}`, identity: { user_id: name } },
  })),
};

const serverInfo = { name: 'till', version: '0.0.0' };
const stamped = { 'io.modelcontextprotocol/serverInfo': serverInfo };

const served = (rule: object = {}, { server, ...more }: ServiceSettings = {}): ServiceSettings => ({
  ...deferring(rule, { on_restart: 'resume' }),
  server: { mcp: true, ...server },
  ...more,
});

/** Calls `pay` as a client that accepts tasks; resolves with the task. */
async function heldTask(agent: TestAgent, mcp: ModernMcp) {
  const { result } = await mcp('tools/call', { name: 'pay', arguments: { order: 'A-1042' } });
  await agent.reached(result.taskId, 'deferred');
  return result;
}

/** Resolves with the state of a task once it has ended. */
async function ended(mcp: ModernMcp, taskId: string) {
  return vi.waitFor(async () => {
    const { result } = await mcp('tasks/get', { taskId });
    expect(['completed', 'failed', 'cancelled']).toContain(result.status);
    return result;
  }, patient);
}

it('the modern endpoint describes itself, lists the tools and runs a call, without a session', async () => {
  const agent = await startTestAgent(served());
  const mcp = modernMcp(agent.url);
  expect(await mcp('server/discover')).toEqual({
    status: 200,
    notifications: [],
    result: {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: {
        tools: { listChanged: true },
        extensions: { 'io.modelcontextprotocol/tasks': {} },
      },
      ttlMs: 0,
      cacheScope: 'private',
      _meta: stamped,
    },
  });
  const { result } = await mcp('tools/list');
  expect(result.tools.find(({ name }: { name: string }) => name === 'pay')).toEqual({
    name: 'pay',
    description: 'Does what pay does.',
    inputSchema: { type: 'object' },
  });
  const called = await mcp('tools/call', { name: 'echo', arguments: { a: 'b' } });
  expect(called).toEqual({
    status: 200,
    notifications: [],
    result: {
      resultType: 'complete',
      content: [{ type: 'text', text: '{"a":"b"}' }],
      _meta: { ...stamped, task_id: called.result._meta.task_id },
    },
  });
});

it('a held call is answered with a task, and later with its result', async () => {
  const agent = await startTestAgent(served());
  const mcp = modernMcp(agent.url, acceptsTasks);
  const task = await heldTask(agent, mcp);
  const { deferral, created_at: createdAt } = (await agent.get(`/tasks/${task.taskId}`)).body
    .metadata;
  const until = task._meta['holdpoint/waits'].until;
  const state = {
    taskId: task.taskId,
    status: 'working',
    statusMessage: `Waits for channel:console:desk until ${until}.`,
    createdAt: createdAt ?? task.createdAt,
    lastUpdatedAt: task.lastUpdatedAt,
    ttlMs: null,
    pollIntervalMs: 1_000,
    _meta: {
      ...stamped,
      task_id: task.taskId,
      'holdpoint/waits': { for: 'channel:console:desk', until },
    },
  };
  expect(task).toEqual({ resultType: 'task', ...state });
  expect(deferral.expires_at ?? until).toBe(until);
  expect((await mcp('tasks/get', { taskId: task.taskId })).result).toEqual({
    resultType: 'complete',
    ...state,
  });
  expect((await agent.decide(task.taskId, approve)).status).toBe(200);
  expect(await ended(mcp, task.taskId)).toEqual({
    resultType: 'complete',
    taskId: task.taskId,
    status: 'completed',
    createdAt: state.createdAt,
    lastUpdatedAt: expect.any(String),
    ttlMs: expect.any(Number),
    pollIntervalMs: 1_000,
    result: {
      resultType: 'complete',
      content: [{ type: 'text', text: '{"order":"A-1042"}' }],
      _meta: { task_id: task.taskId },
    },
    _meta: { ...stamped, task_id: task.taskId, 'holdpoint/waits': null },
  });
  expect(agent.folder.paid).toHaveLength(1);
});

it('rejection, expiry and cancel have the form of a task', async () => {
  const agent = await startTestAgent(served({ timeout: '1s' }));
  const mcp = modernMcp(agent.url, acceptsTasks);
  const rejected = await heldTask(agent, mcp);
  await agent.decide(rejected.taskId, reject);
  expect(await ended(mcp, rejected.taskId)).toMatchObject({
    status: 'completed',
    result: { isError: true, content: [{ text: expect.stringContaining('paid last week') }] },
  });
  const expired = await heldTask(agent, mcp);
  expect(await ended(mcp, expired.taskId)).toMatchObject({
    status: 'completed',
    statusMessage: expect.stringContaining('no decision within 1s'),
    result: { isError: true },
  });
  const canceled = await heldTask(agent, mcp);
  expect((await mcp('tasks/cancel', { taskId: canceled.taskId })).result).toEqual({
    resultType: 'complete',
    _meta: stamped,
  });
  const { result: _, ...state } = await ended(mcp, canceled.taskId);
  expect(state).toMatchObject({ status: 'cancelled', statusMessage: expect.any(String) });
  expect(agent.folder.paid).toEqual([]);
  // A task that has ended stays as it is.
  expect((await mcp('tasks/cancel', { taskId: rejected.taskId })).error).toBeUndefined();
  expect((await ended(mcp, rejected.taskId)).status).toBe('completed');
});

it('a call whose caller needs a stronger sign-in is refused', async () => {
  const step_up = { enabled: true, tools: { pay: 'high' } };
  const agent = await startTestAgent({ ...served(), auth: callers, security: { step_up } });
  const mcp = modernMcp(agent.url, acceptsTasks, 'the-token-of-ann');
  const { error } = await mcp('tools/call', { name: 'pay', arguments: {} });
  expect(error).toEqual({
    code: -32040,
    message: 'step_up_required',
    data: {
      error: 'step_up_required',
      tool: 'pay',
      required_acr: 'high',
      reason: 'no acr claim presented',
      task_id: error.data.task_id,
    },
  });
});

it('a task is found by its caller only, and by a client that accepts tasks', async () => {
  const agent = await startTestAgent(served({}, { auth: callers }));
  const [ann, bob] = ['ann', 'bob'].map((name) =>
    modernMcp(agent.url, acceptsTasks, `the-token-of-${name}`),
  ) as [ModernMcp, ModernMcp];
  const { result } = await ann('tools/call', { name: 'pay', arguments: {} });
  const { taskId } = result;
  const unknown = (await ann('tasks/get', { taskId: 'no-such-task' })).error;
  expect(unknown).toEqual({
    code: -32602,
    message: 'there is no task with this taskId; send the one that the call was answered with',
  });
  const inputResponses = {};
  for (const [method, params] of [
    ['tasks/get', { taskId }],
    ['tasks/cancel', { taskId }],
    ['tasks/update', { taskId, inputResponses }],
  ] as const) {
    expect([method, (await bob(method, params)).error]).toEqual([method, unknown]);
    const answer = await ann(method, params, { capabilities: {} });
    expect([method, answer.status, answer.error]).toEqual([
      method,
      400,
      {
        code: -32021,
        message: expect.any(String),
        data: { requiredCapabilities: acceptsTasks },
      },
    ]);
  }
  expect((await ann('tasks/get', { taskId })).result.status).toBe('working');
});

it('a client that shows addresses is led to the approvals page, once', async () => {
  const url = 'https://till.example.com';
  const agent = await startTestAgent(served({}, { server: { public_url: url } }));
  const mcp = modernMcp(agent.url, { ...acceptsTasks, ...showsLinks });
  const { taskId, status } = await heldTask(agent, mcp);
  expect(status).toBe('working');
  const asked = (await mcp('tasks/get', { taskId })).result;
  const [key = ''] = Object.keys(asked.inputRequests);
  expect(asked).toMatchObject({ status: 'input_required' });
  expect(asked.inputRequests[key]).toEqual({
    method: 'elicitation/create',
    params: {
      mode: 'url',
      url,
      message: expect.stringMatching(
        /^The call of pay waits for channel:console:desk until .+Z\. Open the page to see it or to decide\.$/,
      ),
    },
  });
  const answer = { taskId, inputResponses: { other: { action: 'accept' } } };
  await mcp('tasks/update', answer);
  expect((await mcp('tasks/get', { taskId })).result.status).toBe('input_required');
  await mcp('tasks/update', { taskId, inputResponses: { [key]: { action: 'accept' } } });
  const shown = (await mcp('tasks/get', { taskId })).result;
  expect([shown.status, shown.inputRequests]).toEqual(['working', undefined]);
  // An answer to the address decides nothing.
  expect((await agent.get(`/tasks/${taskId}`)).body.status.state).toBe('deferred');
  await agent.decide(taskId, approve);
  expect((await ended(mcp, taskId)).status).toBe('completed');
});

it('a client that shows addresses but accepts no tasks may call again for the result', async () => {
  const url = 'https://till.example.com';
  const settings = served(
    {},
    { server: { mcp: { answer_within: '0s' }, public_url: url } as object },
  );
  const agent = await startTestAgent(settings);
  const mcp = modernMcp(agent.url, showsLinks);
  const call = { name: 'pay', arguments: { order: 'A-1' } };
  const { result } = await mcp('tools/call', call);
  const { requestState, inputRequests } = result;
  expect(result).toEqual({
    resultType: 'input_required',
    inputRequests: {
      [Object.keys(inputRequests)[0] as string]: {
        method: 'elicitation/create',
        params: { mode: 'url', url, message: expect.any(String) },
      },
    },
    requestState,
    _meta: { ...stamped, task_id: requestState },
  });
  const inputResponses = { [Object.keys(inputRequests)[0] as string]: { action: 'accept' } };
  const foreign = await mcp('tools/call', { ...call, inputResponses, requestState: 'nobodys' });
  expect(foreign.error).toEqual({
    code: -32602,
    message: 'requestState belongs to no call; leave it out',
  });
  const other = { ...call, arguments: { order: 'A-2' }, inputResponses, requestState };
  expect((await mcp('tools/call', other)).error.message).toContain('is another call');
  const again = mcp('tools/call', { ...call, inputResponses, requestState });
  await agent.reached(requestState, 'deferred');
  const { deferrals } = (await agent.get('/deferrals')).body;
  expect(deferrals.map(({ requests }: { requests?: number }) => requests ?? 1)).toEqual([1]);
  await agent.decide(requestState, approve);
  expect((await again).result).toEqual({
    resultType: 'complete',
    content: [{ type: 'text', text: '{"order":"A-1"}' }],
    _meta: { ...stamped, task_id: requestState },
  });
  expect(agent.folder.paid).toHaveLength(1);
});

it('a client without both gets the task as text, after answer_within', async () => {
  const agent = await startTestAgent(
    served({}, { server: { mcp: { answer_within: '1s' } } as object }),
  );
  const mcp = modernMcp(agent.url);
  const { result } = await mcp('tools/call', { name: 'pay', arguments: {} });
  const { task_id: id } = result._meta;
  expect(result.content[0].text).toMatch(
    new RegExp(
      `^The call has not run yet\\. It waits for channel:console:desk until .+ as task ${id}\\. Call task_result`,
    ),
  );
  const outcome = mcp('tools/call', { name: 'task_result', arguments: { task_id: id } });
  await agent.decide(id, approve);
  expect((await outcome).result.content).toEqual([{ type: 'text', text: '{}' }]);
});

it('progress of a held call is sent on the stream of its answer', async () => {
  const agent = await startTestAgent(served());
  const mcp = modernMcp(agent.url);
  const called = mcp(
    'tools/call',
    { name: 'pay', arguments: {} },
    { meta: { progressToken: 'p', task_id: 't1' } },
  );
  await agent.reached('t1', 'deferred');
  await agent.decide('t1', approve);
  const { notifications, result } = await called;
  expect(notifications[0]).toMatchObject({
    method: 'notifications/progress',
    params: { progressToken: 'p', _meta: { task_id: 't1' } },
  });
  expect(result.content).toEqual([{ type: 'text', text: '{}' }]);
});

it.each(['abandon', 'keep'] as const)(
  'with %s, a call whose client closes the connection ends or continues',
  async (policy) => {
    const settings = served();
    const { defer } = settings.security as { defer: object };
    const agent = await startTestAgent({
      ...settings,
      security: { defer: { ...defer, on_stream_disconnect: policy } } as object,
    });
    const stop = new AbortController();
    const called = modernMcp(agent.url)(
      'tools/call',
      { name: 'pay', arguments: {} },
      { meta: { task_id: 't1' }, signal: stop.signal },
    );
    called.catch(() => undefined);
    await agent.reached('t1', 'deferred');
    stop.abort();
    if (policy === 'abandon') {
      const { status } = await agent.reached('t1', 'failed');
      expect(status.message.parts[0].text).toContain('disconnected');
    } else {
      await agent.decide('t1', approve);
      await agent.reached('t1', 'completed');
    }
  },
);

it('a call whose client has received its task continues, with any actions of the client', async () => {
  const agent = await startTestAgent(served());
  const { taskId } = await heldTask(agent, modernMcp(agent.url, acceptsTasks));
  await agent.decide(taskId, approve);
  await agent.reached(taskId, 'completed');
});

it('a task is found after a restart of the daemon', async () => {
  const agent = await startTestAgent(served());
  const before = modernMcp(agent.url, acceptsTasks);
  const { taskId } = await heldTask(agent, before);
  await agent.stop();
  const again = await startInFolder(agent.folder);
  const mcp = modernMcp(again.url, acceptsTasks);
  expect((await mcp('tasks/get', { taskId })).result.status).toBe('working');
  expect((await again.decide(taskId, approve)).status).toBe(200);
  expect((await ended(mcp, taskId)).result.content).toEqual([
    { type: 'text', text: '{"order":"A-1042"}' },
  ]);
});

it('a message whose headers contradict it, or name another version, is refused', async () => {
  const agent = await startTestAgent(served());
  const mcp = modernMcp(agent.url);
  const call = { name: 'echo', arguments: {} };
  const poll = await mcp('tools/call', call, { headers: { 'mcp-method': 'tasks/get' } });
  expect(poll.status).toBe(400);
  const named = await mcp('tools/call', call, { headers: { 'mcp-name': 'pay' } });
  expect([named.status, named.error.code]).toEqual([400, -32020]);
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2027-01-01' };
  const versioned = await mcp('tools/call', call, {
    headers: { 'mcp-protocol-version': '2027-01-01' },
    meta,
  });
  expect([versioned.status, versioned.error]).toEqual([
    400,
    {
      code: -32022,
      message: expect.any(String),
      data: { supported: ['2026-07-28'], requested: '2027-01-01' },
    },
  ]);
});

it('a long message without a session is read', async () => {
  const agent = await startTestAgent(served());
  const args = { a: 'x'.repeat(40_000) };
  const { result } = await modernMcp(agent.url)('tools/call', { name: 'echo', arguments: args });
  expect(result.content).toEqual([{ type: 'text', text: JSON.stringify(args) }]);
});

it('requests for the state of a task count as reads', async () => {
  const rate_limit = { write_rps: 0.01, write_burst: 3, read_rps: 1_000, read_burst: 1_000 };
  const agent = await startTestAgent(served({}, { server: { rate_limit } as object }));
  const mcp = modernMcp(agent.url, acceptsTasks);
  const { result } = await mcp('tools/call', { name: 'pay', arguments: {} });
  for (let sent = 0; sent < 20; sent += 1) {
    expect((await mcp('tasks/get', { taskId: result.taskId })).status).toBe(200);
  }
});

it('a listening client is notified when its tools change', async () => {
  const agent = await startTestAgent(served());
  const changes: string[][] = [];
  const onChanged = (_: unknown, tools: { name: string }[] | null) =>
    void changes.push((tools ?? []).map(({ name }) => name));
  const client = new Client(
    { name: 'test', version: '1' },
    {
      versionNegotiation: { mode: { pin: '2026-07-28' } },
      listChanged: { tools: { debounceMs: 0, onChanged } },
    },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(`${agent.url}/mcp`)));
  onTestFinished(() => client.close());
  const before = (await client.listTools()).tools.map(({ name }) => name);
  const file = join(agent.folder.path, 'service.yaml');
  const service = JSON.parse(readFileSync(file, 'utf8'));
  const guardrails = { enabled: true, denied_tools: ['pay'] };
  writeFileSync(
    file,
    JSON.stringify({ ...service, security: { ...service.security, guardrails } }),
  );
  await vi.waitFor(() => {
    expect(changes).toEqual([before.filter((name) => name !== 'pay')]);
  }, patient);
});
