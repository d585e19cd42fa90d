import { expect, it } from 'vitest';
import { startTestAgent } from '../../helpers/test-agent.ts';

const to = ['channel:console:desk', 'channel:dashboard:managers'];

it('a call may have several targets, and one decision counts', async () => {
  const agent = await startTestAgent({
    security: { defer: { enabled: true, tools: { pay: { to } } } },
  });
  const sent = agent.send('t1', [{ tool: 'pay' }, { say: 'paid' }]);
  const held = await agent.reached('t1', 'deferred');
  const both = 'channel:console:desk, channel:dashboard:managers';
  expect(held.status.message.parts).toEqual([
    { kind: 'text', text: `Deferred: awaiting ${both} decision on pay` },
  ]);
  expect(held.metadata.deferral.to).toBe(both);
  expect((await agent.decide('t1', { decision: 'approve' })).status).toBe(200);
  expect((await agent.decide('t1', { decision: 'reject' })).status).toBe(409);
  await sent;
  const [asked] = agent.audit('t1').filter(({ event }) => event === 'task_deferred');
  expect(asked?.fields).toMatchObject({ tool: 'pay', to: both });
});
