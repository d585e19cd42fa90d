import { expect, it, vi } from 'vitest';
import { startGovernedAgent } from '../helpers/governed-agent.ts';
import { patient } from '../helpers/patient.ts';

const script = [
  { tool: 'pay', args: { amount: 899, to: 'ann, token s3cr3t-of-the-shop' } },
  { say: '{result}' },
];
const modify = {
  enabled: true,
  tools: {
    pay: {
      arguments: [
        { path: 'amount', set: 3 },
        { path: 'to', set: 'ann' },
      ],
    },
  },
};
const metadata = ['metadata: {service: {requires: {env: {required: [PAY_TOKEN]}}}}'];
const env = { PAY_TOKEN: 's3cr3t-of-the-shop' };

it('the changes of MODIFY are stored permanently, without secrets, also after a restart', async () => {
  const agent = await startGovernedAgent({ security: { modify } }, { metadata, env });
  await agent.send('t1', script);
  const read = async (one: typeof agent) => {
    const { body } = await one.get('/tasks/t1?decisions=true');
    const records: { layer: string; changes?: unknown }[] = body.metadata.decisions;
    return records.filter(({ changes }) => changes !== undefined);
  };
  const told = await read(agent);
  expect(told).toMatchObject([{ layer: 'modify', decision: 'modify' }]);
  expect(told[0]?.changes).toEqual([
    { path: 'amount', before: '899', after: '3' },
    { path: 'to', before: expect.stringMatching(/^"ann, token .*"$/), after: '"ann"' },
  ]);
  expect(JSON.stringify(told)).not.toContain('s3cr3t');
  await agent.stop();
  const again = await startGovernedAgent({}, { folder: agent.folder, env });
  expect(await read(again)).toEqual(told);
});

it('an approver of a call that MODIFY changed sees the rule and the original', async () => {
  const defer = { enabled: true, tools: { pay: { to: 'channel:console:*', timeout: '5m' } } };
  const agent = await startGovernedAgent({ security: { modify, defer } }, { metadata, env });
  const answered = agent.send('t1', script);
  const held = await vi.waitUntil(async () => {
    const { body } = await agent.get('/deferrals');
    return body.deferrals[0];
  }, patient);
  expect(held).toMatchObject({
    args: { amount: 3, to: 'ann' },
    modified: expect.stringMatching(/^rewritten by /),
    changes: [
      { path: 'amount', before: '899', after: '3' },
      { path: 'to', before: expect.stringMatching(/^"ann, token .*"$/), after: '"ann"' },
    ],
  });
  expect(JSON.stringify(held)).not.toContain('s3cr3t');
  expect((await agent.get(`/deferrals/${held.id}`)).body).toEqual(held);
  await agent.decide('t1', { decision: 'approve' });
  await answered;
});
