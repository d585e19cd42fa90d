import { expect, it } from 'vitest';
import { deferring, startTestAgent, story } from '../helpers/test-agent.ts';

it('a write timeout cuts a held request, and its task continues', async () => {
  const agent = await startTestAgent({ ...deferring(), server: { write_timeout: '250ms' } });
  await expect(agent.send('t1', [{ tool: 'pay' }, { say: '{result}' }])).rejects.toThrow();
  await agent.reached('t1', 'deferred');
  expect((await agent.decide('t1', { decision: 'approve' })).status).toBe(200);
  expect((await agent.reached('t1', 'completed')).status.state).toBe('completed');
});

it('a write timeout cuts a stream, and its wait is abandoned', async () => {
  const agent = await startTestAgent({ ...deferring(), server: { write_timeout: '250ms' } });
  const script = [{ tool: 'pay' }];
  const parts = [{ kind: 'data', data: { script } }];
  await agent.stream('/tasks/sendSubscribe', {
    body: { id: 't1', message: { parts } },
  });
  await agent.reached('t1', 'failed');
  expect(story(agent.audit('t1')).slice(-2)).toEqual([
    ['task_deferred_abandoned', { tool: 'pay', reason: 'caller_disconnected' }],
    ['session_end', { state: 'failed' }],
  ]);
});

it('a write timeout does not affect a request that is answered in time', async () => {
  const agent = await startTestAgent({ server: { write_timeout: '10s' } });
  expect((await agent.send('t1', [{ say: 'hi' }])).status).toBe(200);
});
