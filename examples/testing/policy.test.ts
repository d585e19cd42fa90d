import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { startTestAgent } from 'holdpoint/testing';
import { decisions, sentTasks } from 'holdpoint/testing/arbitraries';

const tasks = sentTasks({ refund: fc.record({ order: fc.string(), amount: fc.nat() }) });

test('a refund is paid only after Ann or Bob approve it, never to the approver', async () => {
  await using agent = await startTestAgent({ folder: 'agent', env: { STAFF_TOKEN: 'unused' } });
  const property = fc.asyncProperty(tasks, decisions(), async (task, { decision, options }) => {
    const { id, state } = await agent.send(task.text, task.options);
    const { status } = await agent.decide(id, decision, options);
    const isTheirs = options.as !== 'eve@example.com' && options.as !== task.options.as;
    const isPaid = agent.runs.some(({ taskId }) => taskId === id);
    assert.ok(!isPaid || (status === 200 && decision === 'approve' && isTheirs), state);
  });
  await fc.assert(property);
});
