import { expect, it } from 'vitest';
import { startGovernedAgent } from '../../helpers/governed-agent.ts';

const script = [{ tool: 'pay_out', args: { amount: 5 } }, { say: 'paid' }];
const token = { PAY_TOKEN: { from_env: 'PAY' } };

/** A folder with the tool `pay_out`, whose rules are written for `pay-out`. */
const settings = {
  tools: [{ name: 'pay-out', idempotent: true }],
  security: {
    modify: { enabled: true, tools: { 'pay-out': { arguments: [{ path: 'to', set: 'Maja' }] } } },
    defer: { enabled: true, tools: { 'pay-out': { to: 'channel:console:*' } } },
  },
  credentials: [{ tool: 'pay-out', provider: 'static', spec: { env: token } }],
};

it('a rule applies to its tool under either spelling of the name', async () => {
  const agent = await startGovernedAgent(settings, { env: { PAY: 'a-secret' } });
  const sent = agent.send('t1', script);
  const held = await agent.reached('t1', 'deferred');
  expect(held.metadata.deferral).toMatchObject({
    tool: 'pay_out',
    context: 'tool=pay_out args={"amount":5,"to":"Maja"}',
  });
  expect(agent.ran).toEqual([]);
  expect((await agent.decide('t1', { decision: 'approve' })).status).toBe(200);
  await sent;
  expect(agent.ran).toEqual([['pay_out', { amount: 5, to: 'Maja' }]]);
  const issued = agent.audit('t1').find(({ event }) => event === 'credential_issued');
  expect(issued?.fields).toMatchObject({ tool: 'pay_out', provider: 'static' });
  const [loaded] = agent.audit().filter(({ event }) => event === 'policy_loaded');
  expect(loaded?.fields).toMatchObject({ deferred_tools: ['pay_out'] });
});
