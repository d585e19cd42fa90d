import { beforeEach, describe, expect, it } from 'vitest';
import { taskMachineVersion } from '../../src/machines/task/snapshot-steps.ts';
import { deferring, launchAgent, type TestAgent } from '../helpers/test-agent.ts';

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const asker = { user_id: expect.any(String), email: null, provider: 'runtime' };

let agent: TestAgent;

beforeEach(async () => {
  agent = await launchAgent(deferring());
  return () => agent.close();
});

function entered(...states: [state: string, event: string][]): object[] {
  return states.map(([state, event]) => ({ state, event, entered_at: time }));
}

const asked = entered(
  ['submitted', 'task.send'],
  ['working.thinking', 'prompt.screened'],
  ['working.governing', 'thinking.done'],
  ['deferred.asked', 'governing.done'],
);

describe('GET /tasks/{id}?history=states', () => {
  it('adds the states that a task has entered, its current one, and its transitions', async () => {
    const held = agent.send('t1', [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }]);
    await agent.reached('t1', 'deferred');
    const { metadata, ...task } = (await agent.get('/tasks/t1')).body;
    const { status, body } = await agent.get('/tasks/t1?history=states');
    const requester = body.metadata.requester === null ? null : asker;
    expect([status, body]).toEqual([
      200,
      {
        ...task,
        metadata: {
          ...metadata,
          created_at: time,
          requester,
          statechart: { version: taskMachineVersion, value: 'deferred.asked' },
          states: asked,
        },
      },
    ]);
    await agent.decide('t1', { decision: 'approve' });
    await held;
    const ended = (await agent.get('/tasks/t1?history=states')).body.metadata;
    expect([ended.statechart.value, ended.states]).toEqual([
      'completed',
      [
        ...asked,
        ...entered(
          ['working.governing', 'deferral.decide'],
          ['working.executing.calling.starting', 'governing.done'],
          ['working.executing.calling.running', 'task.saved'],
          ['working.executing.recording', 'running.done'],
          ['working.thinking', 'task.saved'],
          ['completed', 'thinking.done'],
        ),
      ],
    ]);
  });

  it('names the workflow that the request was part of', async () => {
    await agent.request('POST', '/tasks/send', {
      headers: { 'X-Workflow-ID': 'w-1', 'X-Workflow-Step-ID': 's-2', 'X-Service-Org-ID': 'acme' },
      body: { task: { id: 't1', message: { parts: [{ kind: 'text', text: 'hello' }] } } },
    });
    const workflow = { workflow_id: 'w-1', step_id: 's-2' };
    const { body } = await agent.get('/tasks/t1?history=states');
    expect(body.metadata).toMatchObject({ workflow });
    const [listed] = (await agent.get('/tasks?include=origin')).body.tasks;
    const { created_at, requester } = body.metadata;
    expect(listed.metadata).toEqual({ created_at, requester, workflow });
    expect(listed.history).toBeUndefined();
    const both = (await agent.get('/tasks?include=artifacts,origin')).body.tasks[0];
    expect(both).toEqual({ ...body, metadata: listed.metadata });
  });

  it('shows nothing by default, and refuses every other value', async () => {
    await agent.send('t1', [{ say: 'hello' }]);
    expect((await agent.get('/tasks/t1')).body.metadata).toBeUndefined();
    expect((await agent.get('/tasks/t1?history=')).body.metadata).toBeUndefined();
    for (const value of ['true', 'state', 'states,states', '1']) {
      expect(await agent.get(`/tasks/t1?history=${value}`)).toMatchObject({
        status: 400,
        body: { error: 'history must be states', code: 'invalid_query' },
      });
    }
    expect(await agent.get('/tasks/t1?history=states&history=states')).toMatchObject({
      status: 400,
    });
    expect(await agent.get('/tasks/none?history=states')).toMatchObject({
      status: 404,
      body: { error: 'task not found', code: 'task_not_found' },
    });
  });
});
