import { expect, it } from 'vitest';
import { deferring, startTestAgent } from '../helpers/test-agent.ts';

it('count the tasks of each state, and those that wait', async () => {
  const agent = await startTestAgent(deferring());
  await agent.send('done', [{ say: 'hi' }]);
  await agent.send('broken', [{ tool: 'ghost' }]);
  const held = agent.send('held', [{ tool: 'pay' }, { say: 'paid' }]);
  await agent.reached('held', 'deferred');
  const lines = async () =>
    String((await agent.get('/metrics')).body)
      .split('\n')
      .filter((line) => /^holdpoint_(tasks|deferrals|admission)/.test(line));
  expect(await lines()).toEqual([
    'holdpoint_deferrals_pending 1',
    'holdpoint_tasks{state="submitted"} 0',
    'holdpoint_tasks{state="working"} 0',
    'holdpoint_tasks{state="deferred"} 1',
    'holdpoint_tasks{state="completed"} 1',
    'holdpoint_tasks{state="failed"} 1',
    'holdpoint_tasks{state="canceled"} 0',
    'holdpoint_tasks_live 1',
    'holdpoint_admission_fallbacks_total 0',
  ]);
  await agent.decide('held', { decision: 'approve' });
  await held;
  expect(await lines()).toContain('holdpoint_tasks{state="completed"} 2');
});
