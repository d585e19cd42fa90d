import { describe, expect, it } from 'vitest';
import type { AgentClient } from '../../helpers/agent-client.ts';
import { deferring, reached, startTestAgent } from '../../helpers/test-agent.ts';
import { deferral } from './paying-task.ts';

const steps = [{ tool: 'pay', args: { amount: 3 } }, { say: 'done' }];
const older = { 'a2a-version': '0.3' };
const current = { 'a2a-version': '1.0' };

const rpc = (agent: AgentClient, method: string, params: object, headers = {}) =>
  agent
    .post('/', { jsonrpc: '2.0', id: 1, method, params }, headers)
    .then(({ body }) => body.result ?? body);

/** The ways to start a task; each resolves with its id. */
const starts: Record<string, (agent: AgentClient) => Promise<string>> = {
  async 'POST /tasks/sendSubscribe'(agent) {
    const stream = await agent.subscribe('legacy', steps);
    await stream.untilState('deferred');
    return 'legacy';
  },
  async 'message/send'(agent) {
    const parts = [{ kind: 'data', data: { script: steps } }];
    const message = { kind: 'message', role: 'user', messageId: 'm1', parts };
    const configuration = { blocking: false };
    return (await rpc(agent, 'message/send', { message, configuration })).id;
  },
  async SendMessage(agent) {
    const message = { role: 'ROLE_USER', messageId: 'm1', parts: [{ data: { script: steps } }] };
    const configuration = { returnImmediately: true };
    const answer = await rpc(agent, 'SendMessage', { message, configuration }, current);
    return answer.task.id;
  },
};

/** The ways to read a task, each with what it calls the state of a task that waits. */
const readers: Record<string, [(agent: AgentClient, id: string) => Promise<any>, string]> = {
  'GET /tasks/{id}': [
    (agent, id) => agent.get(`/tasks/${id}`).then(({ body }) => body),
    'deferred',
  ],
  'GET /tasks': [(agent) => agent.get('/tasks').then(({ body }) => body.tasks[0]), 'deferred'],
  'GET /tasks/{id}/events': [
    async (agent, id) => {
      const stream = await agent.stream(`/tasks/${id}/events`);
      const event = await stream.next();
      stream.leave();
      return event?.data;
    },
    'deferred',
  ],
  'tasks/get with A2A-Version 0.3': [
    (agent, id) => rpc(agent, 'tasks/get', { id }, older),
    'auth-required',
  ],
  'tasks/resubscribe': [
    async (agent, id) => {
      const body = { jsonrpc: '2.0', id: 1, method: 'tasks/resubscribe', params: { id } };
      const stream = await agent.stream('/', { body });
      const event = await stream.next();
      stream.leave();
      return event?.data.result;
    },
    'auth-required',
  ],
  'GET /v1/tasks/{id}': [
    (agent, id) => agent.get(`/v1/tasks/${id}`).then(({ body }) => body),
    'TASK_STATE_AUTH_REQUIRED',
  ],
  GetTask: [(agent, id) => rpc(agent, 'GetTask', { id }, current), 'TASK_STATE_AUTH_REQUIRED'],
  ListTasks: [
    (agent) => rpc(agent, 'ListTasks', {}, current).then(({ tasks }) => tasks[0]),
    'TASK_STATE_AUTH_REQUIRED',
  ],
  'GET /a2a/tasks/{id}': [
    (agent, id) => agent.get(`/a2a/tasks/${id}`, current).then(({ body }) => body),
    'TASK_STATE_AUTH_REQUIRED',
  ],
};

/** What `tasks/get` calls it when no version is said: in the words in which the task was asked for. */
const unsaid: Record<string, string> = {
  'POST /tasks/sendSubscribe': 'deferred',
  'message/send': 'auth-required',
  SendMessage: 'auth-required',
};

describe.each(Object.keys(starts))('a deferral of a task of %s', (start) => {
  it('is shown on each surface in its own form, with the same deferral', async () => {
    const agent = await startTestAgent(deferring({}, { on_stream_disconnect: 'keep' }));
    const id = (await starts[start]?.(agent)) ?? '';
    await reached(agent, id, 'deferred');
    const all = {
      ...readers,
      'tasks/get': [
        (_: AgentClient, taskId: string) => rpc(agent, 'tasks/get', { id: taskId }),
        unsaid[start],
      ] as const,
    };
    const seen: Record<string, unknown> = {};
    const deferrals: unknown[] = [];
    for (const [name, [read]] of Object.entries(all)) {
      const { status, metadata } = await read(agent, id);
      seen[name] = status.state;
      deferrals.push(metadata.deferral);
    }
    expect(seen).toEqual(
      Object.fromEntries(Object.entries(all).map(([name, [, state]]) => [name, state])),
    );
    expect(deferrals[0]).toEqual(deferral);
    expect(new Set(deferrals.map((one) => JSON.stringify(one))).size).toBe(1);
  });
});
