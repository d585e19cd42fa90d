import { expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { deferring, reached, startInFolder, type TestAgent } from '../helpers/test-agent.ts';

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];

const escalate_to = [
  { to: 'channel:console:leads', after: '300ms' },
  { to: 'channel:console:boss', after: '600ms' },
  { to: 'channel:console:board', after: '4s' },
];

const escalationsOf = (agent: TestAgent) =>
  agent
    .audit('t1')
    .filter(({ event }) => event === 'task_deferred_escalated')
    .map(({ fields = {} }) => fields['to']);

async function startEscalating() {
  const folder = new AgentFolder(
    deferring({ escalate_to, timeout: '60s' }, { on_restart: 'resume' }),
  );
  onTestFinished(() => folder.remove());
  const agent = await startInFolder(folder, {});
  void agent.send('t1', pay).catch(() => undefined);
  await reached(agent, 't1', 'deferred');
  return { folder, agent };
}

it('each escalation stage is asked once at its time, also after a restart in between', async () => {
  const { folder, agent } = await startEscalating();
  await vi.waitUntil(() => escalationsOf(agent).length === 2, patient);
  const [deferral] = (await agent.get('/deferrals')).body.deferrals;
  expect(deferral.escalated_to).toBe('channel:console:boss');
  const after = Date.parse(deferral.escalates_at) - Date.parse(deferral.requested_at);
  expect(after).toBe(4_000);
  await agent.stop();
  const again = await startInFolder(folder, {});
  await vi.waitUntil(() => escalationsOf(again).length === 3, patient);
  expect(escalationsOf(again)).toEqual([
    ...['channel:console:leads', 'channel:console:boss', 'channel:console:board'],
  ]);
  const decision = { decision: 'approve', approver_email: 'ann@example.com' };
  expect((await again.post('/tasks/t1/decisions', decision)).status).toBe(200);
});
