import { isDeepStrictEqual } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { auditReader } from '../../../src/dashboard/reading/audit-reader.ts';
import { deferring, launchAgent } from '../../helpers/test-agent.ts';

it('each event of a task is shown with its own fields, without the envelope', async () => {
  const agent = await launchAgent(deferring());
  onTestFinished(() => agent.close());
  void agent.send('t1', [{ tool: 'pay', args: {} }, { say: 'paid' }]);
  await agent.reached('t1', 'deferred');
  const timeline = await auditReader({}).timeline(
    agent.folder.path,
    't1',
    AbortSignal.timeout(60_000),
  );
  const lines = agent.audit();
  expect(timeline).toEqual(
    agent.audit('t1').map((one) => ({
      line: lines.findIndex((other) => isDeepStrictEqual(one, other)) + 1,
      event: one.event,
      at: one.ts,
      seq: one.seq,
      fields: one.fields ?? {},
    })),
  );
  expect(timeline.at(-1)).toMatchObject({ event: 'task_deferred', fields: { tool: 'pay' } });
});
