import { expect, it, onTestFinished } from 'vitest';
import { agentFiles } from '../../../src/cli/ui/agent-files.ts';
import { deferring, launchAgent } from '../../helpers/test-agent.ts';

it('tells of each event of a task with its own fields, and of no envelope', async () => {
  const agent = await launchAgent(deferring());
  onTestFinished(() => agent.close());
  void agent.send('t1', [{ tool: 'pay', args: {} }, { say: 'paid' }]);
  await agent.reached('t1', 'deferred');
  const timeline = await agentFiles({}).timeline(agent.folder.path, 't1');
  expect(timeline).toEqual(
    agent.audit('t1').map(({ event, ts, seq, fields = {} }) => ({ event, at: ts, seq, fields })),
  );
  expect(timeline.at(-1)).toMatchObject({ event: 'task_deferred', fields: { tool: 'pay' } });
});
