import { expect, it } from 'vitest';
import { taskMachine } from '../../src/machines/task/task-machine.ts';
import { playing } from '../helpers/agent-client.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { deferring, launchAgent, startTestAgent } from '../helpers/test-agent.ts';

const canary = 'CANARY-4f1d';
const script = [{ tool: 'pay', args: { iban: canary } }, { say: `paid ${canary}` }];

it('inspection is off without the inspector, for every caller', async () => {
  const agent = await startTestAgent();
  await agent.send('r1', [{ say: 'done' }]);
  const { status, body } = await agent.get('/tasks/r1/inspection');
  expect({ status, body }).toEqual({
    status: 409,
    body: {
      error: 'the inspector of this agent is off; start the agent with --inspect',
      code: 'inspection_off',
    },
  });
});

it('inspection shows the path of a waiting and of an ended task, also after a restart, and no message text', async () => {
  const folder = new AgentFolder(deferring());
  const first = await launchAgent({}, { folder, inspectPort: 0 });
  const task = { id: 'r1', message: playing(script) };
  const sent = first.post('/tasks/send', { task });
  await first.reached('r1', 'deferred');
  const held = await first.get('/tasks/r1/inspection');
  await first.decide('r1', {
    decision: 'approve',
    approver_email: `${canary}@example.com`,
    note: canary,
  });
  await sent;
  const whole = await first.get('/tasks/r1?history=states');
  await first.stop();

  const agent = await launchAgent({}, { folder, inspectPort: 0 });
  const ended = await agent.get('/tasks/r1/inspection');
  expect(await agent.get('/tasks/none/inspection')).toMatchObject({
    status: 404,
    body: { error: 'task not found', code: 'task_not_found' },
  });
  await agent.close();

  expect(JSON.stringify(whole.body)).toContain(canary);
  expect(JSON.stringify([held.body, ended.body])).not.toContain(canary);
  expect(held.body.events.at(-1)).toMatchObject({
    type: '@xstate.snapshot',
    event: { type: 'governing.done' },
    snapshot: {
      status: 'active',
      value: { deferred: 'asked' },
      context: { pending: [{ tool: 'pay', args: '[redacted]' }] },
    },
  });
  const told = ended.body.events.filter(({ type }: any) => type === '@xstate.snapshot');
  expect(told.map(({ event, createdAt }: any) => [event.type, Number(createdAt)])).toEqual(
    whole.body.metadata.states.map(({ event, entered_at }: any) => [event, Date.parse(entered_at)]),
  );
  expect(told.at(-1).snapshot).toEqual({ status: 'done', value: 'completed' });
  const drawn = JSON.parse(ended.body.events[0].definition);
  expect(Object.keys(drawn.states)).toEqual(Object.keys(taskMachine.config.states ?? {}));
});
