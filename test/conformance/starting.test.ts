import { expect, it } from 'vitest';
import { playing } from '../helpers/agent-client.ts';
import { startTestSurface } from '../helpers/test-surface.ts';

const starting = {
  status: 503,
  body: { error: 'service is starting; try again in a moment', code: 'starting' },
};

it('every transport answers 503 while interrupted tasks are handled', async () => {
  const { client } = await startTestSurface({ isStarted: false });
  const message = playing([{ say: 'hi' }]);
  for (const answer of [
    await client.post('/tasks/send', { message }),
    await client.post('/tasks/sendSubscribe', { message }),
    await client.rpc('tasks/send', { message }),
    await client.decide('t1', { decision: 'approve' }),
    await client.post('/tasks/t1/cancel'),
  ]) {
    expect({ status: answer.status, body: answer.body }).toEqual(starting);
  }
  expect((await client.get('/readyz')).status).toBe(503);
  expect((await client.get('/healthz')).status).toBe(200);
  expect((await client.get('/tasks')).body).toEqual({ tasks: [] });
});
