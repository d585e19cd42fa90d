import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CallToolResultSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  type ElicitResult,
} from '@modelcontextprotocol/sdk/types.js';
import { expect, it, onTestFinished, vi } from 'vitest';
import { mcpClientAt } from '../helpers/mcp-client.ts';
import { patient } from '../helpers/patient.ts';
import { deferring, startInFolder, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const approve = { decision: 'approve', approver: 'ann@example.com' };
const reject = { decision: 'reject', approver: 'ann@example.com' };

const served = (rule: object = {}, server: object = {}) => ({
  ...deferring(rule, { on_restart: 'resume' }),
  server: { mcp: true, ...server },
});

/** Calls `pay` as a task; resolves with the task once it waits. */
async function heldTask(agent: TestAgent, client: Client) {
  const params = { name: 'pay', arguments: { order: 'A-1' }, task: { ttl: 60_000 } };
  const { task } = await client.request({ method: 'tools/call', params }, CreateTaskResultSchema);
  await agent.reached(task.taskId, 'deferred');
  return task;
}

it('a call made as a task is answered at once, and with its result on request', async () => {
  const agent = await startTestAgent(served());
  const client = await mcpClientAt(agent.url);
  expect(client.getServerCapabilities()?.tasks).toEqual({
    cancel: {},
    requests: { tools: { call: {} } },
  });
  const { tools } = await client.listTools();
  expect(tools.find(({ name }) => name === 'pay')?.execution).toEqual({ taskSupport: 'optional' });
  expect(tools.find(({ name }) => name === 'echo')?.execution).toBeUndefined();
  const created = await heldTask(agent, client);
  expect(created).toEqual({
    taskId: created.taskId,
    status: 'working',
    createdAt: expect.any(String),
    lastUpdatedAt: expect.any(String),
    ttl: null,
    pollInterval: 1_000,
  });
  const { taskId } = created;
  expect(await client.experimental.tasks.getTask(taskId)).toMatchObject({
    taskId,
    status: 'working',
    statusMessage: expect.stringMatching(/^Waits for channel:console:desk until .+Z\.$/),
  });
  const result = client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
  expect((await agent.decide(taskId, approve)).status).toBe(200);
  expect(await result).toEqual({
    content: [{ type: 'text', text: '{"order":"A-1"}' }],
    _meta: { task_id: taskId, 'io.modelcontextprotocol/related-task': { taskId } },
  });
  expect(agent.folder.paid).toHaveLength(1);
});

it('cancel, expiry and rejection have the form of a task', async () => {
  const agent = await startTestAgent(served({ timeout: '2s' }));
  const client = await mcpClientAt(agent.url);
  const { tasks } = client.experimental;
  const expired = await heldTask(agent, client);
  // The same call of the same caller waits for the same decision.
  expect((await heldTask(agent, client)).taskId).toBe(expired.taskId);
  await agent.reached(expired.taskId, 'failed');
  expect(await tasks.getTask(expired.taskId)).toMatchObject({
    status: 'failed',
    statusMessage: expect.stringContaining('no decision within 2s'),
  });
  expect(await tasks.getTaskResult(expired.taskId, CallToolResultSchema)).toMatchObject({
    isError: true,
  });
  const refused = await heldTask(agent, client);
  await agent.decide(refused.taskId, reject);
  await vi.waitFor(async () => {
    expect((await tasks.getTask(refused.taskId)).status).toBe('failed');
  }, patient);
  // The outcome that no client has received is that of the next equal call.
  const params = { name: 'pay', arguments: { order: 'A-1' }, task: {} };
  const request = { method: 'tools/call', params } as const;
  const { task } = await client.request(request, CreateTaskResultSchema);
  expect([task.taskId, task.status]).toEqual([refused.taskId, 'failed']);
  expect(await tasks.getTaskResult(task.taskId, CallToolResultSchema)).toMatchObject({
    isError: true,
  });
  const canceled = await heldTask(agent, client);
  expect(await tasks.cancelTask(canceled.taskId)).toMatchObject({ status: 'cancelled' });
  await expect(tasks.cancelTask(canceled.taskId)).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining('the task has ended and cannot be canceled'),
  });
  await expect(tasks.getTask('no-such-task')).rejects.toMatchObject({ code: -32602 });
  expect(agent.folder.paid).toEqual([]);
});

it('the address of the page is shown during the request for the result, and decides nothing', async () => {
  const url = 'https://till.example.com';
  const agent = await startTestAgent(served({}, { public_url: url }));
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: { elicitation: { url: {} } } },
  );
  const shown: unknown[] = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }): ElicitResult => {
    shown.push(params);
    return { action: 'accept' };
  });
  const transport = new StreamableHTTPClientTransport(new URL(`${agent.url}/mcp`));
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  onTestFinished(() => client.close());
  const { tasks } = client.experimental;
  const { taskId } = await heldTask(agent, client);
  expect((await tasks.getTask(taskId)).status).toBe('input_required');
  const result = tasks.getTaskResult(taskId, CallToolResultSchema);
  await vi.waitFor(async () => {
    expect((await tasks.getTask(taskId)).status).toBe('working');
  }, patient);
  expect(shown).toEqual([
    {
      mode: 'url',
      url,
      message: expect.stringContaining('The call of pay waits for channel:console:desk'),
      elicitationId: expect.any(String),
      _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
    },
  ]);
  expect((await agent.get(`/tasks/${taskId}`)).body.status.state).toBe('deferred');
  await agent.decide(taskId, approve);
  expect((await result)['content']).toEqual([{ type: 'text', text: '{"order":"A-1"}' }]);
});

it('the task of a session is found after a restart of the daemon', async () => {
  const agent = await startTestAgent(served());
  let at = agent.url;
  const client = await mcpClientAt(agent.url, {
    fetch: (url, init) => fetch(String(url).replace(agent.url, at), init),
  });
  const { tasks } = client.experimental;
  const { taskId } = await heldTask(agent, client);
  await agent.stop();
  const again = await startInFolder(agent.folder);
  at = again.url;
  expect((await tasks.getTask(taskId)).status).toBe('working');
  const result = tasks.getTaskResult(taskId, CallToolResultSchema);
  expect((await again.decide(taskId, approve)).status).toBe(200);
  expect((await result)['content']).toEqual([{ type: 'text', text: '{"order":"A-1"}' }]);
});
