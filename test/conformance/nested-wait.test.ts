import { expect, it, vi } from 'vitest';
import { patient } from '../helpers/patient.ts';
import { deferring, startTestAgent, textOf } from '../helpers/test-agent.ts';

const script = (tool: string, id = 't1') => ({
  task: {
    id,
    message: {
      parts: [
        { kind: 'data', data: { script: [{ tool, args: { order: 'A-1' } }, { say: '{result}' }] } },
      ],
    },
  },
});

it('an agent whose call waits at another agent reports where and for whom, and continues after the release', async () => {
  const bank = await startTestAgent({ ...deferring(), server: { mcp: true } });
  const { port } = new URL(bank.url);
  const desk = await startTestAgent({
    egress: { allowed_private: [`127.0.0.1:${port}`] },
    mcp: { servers: [{ name: 'bank', url: `${bank.url}/mcp`, tools: { deny: [] } }] },
  });
  const sent = desk.post('/tasks/send', script('bank__pay'));
  const waiting = await vi.waitUntil(async () => {
    const { body } = await desk.get('/tasks/t1');
    return body.metadata?.waits === undefined ? null : body;
  }, patient);
  expect([waiting.status.state, waiting.status.message.parts, waiting.metadata]).toEqual([
    'deferred',
    [{ kind: 'text', text: 'waits at bank for channel:console:desk' }],
    { waits: { at: 'bank', for: 'channel:console:desk', until: expect.any(String) } },
  ]);
  const listed = async (state: string) =>
    (await desk.get(`/tasks?state=${state}`)).body.tasks.map(({ id }: { id: string }) => id);
  expect([await listed('deferred'), await listed('working')]).toEqual([['t1'], []]);
  expect((await desk.get('/deferrals')).body).toEqual({ deferrals: [], total: 0 });
  const { body } = await bank.get('/deferrals');
  const id = body.deferrals[0].task_id;
  expect(bank.folder.paid).toEqual([]);
  await bank.post(`/tasks/${id}/decisions`, { decision: 'approve', approver: 'ann@example.com' });
  const ended = await sent;
  expect([textOf(ended), ended.body.metadata]).toEqual(['{"order":"A-1"}', undefined]);
  expect(await listed('deferred')).toEqual([]);
  expect(bank.folder.paid).toHaveLength(1);
});

it('equal calls of two tasks wait at another agent separately, and each of them runs', async () => {
  const bank = await startTestAgent({ ...deferring(), server: { mcp: true } });
  const { port } = new URL(bank.url);
  const desk = await startTestAgent({
    egress: { allowed_private: [`127.0.0.1:${port}`] },
    mcp: { servers: [{ name: 'bank', url: `${bank.url}/mcp`, tools: { deny: [] } }] },
  });
  const sent = ['t1', 't2'].map((id) => desk.post('/tasks/send', script('bank__pay', id)));
  const held = await vi.waitUntil(async () => {
    const { deferrals } = (await bank.get('/deferrals')).body;
    return deferrals.length === 2 ? deferrals : null;
  }, patient);
  for (const { task_id: id } of held) {
    await bank.decide(id, { decision: 'approve', approver: 'ann@example.com' });
  }
  const paid = '{"order":"A-1"}';
  expect((await Promise.all(sent)).map(textOf)).toEqual([paid, paid]);
  expect(bank.folder.paid).toHaveLength(2);
});

it('a call that waits at another agent for too long is canceled, and the model learns that it never ran', async () => {
  const bank = await startTestAgent({ ...deferring(), server: { mcp: true } });
  const { port } = new URL(bank.url);
  const server = { name: 'bank', url: `${bank.url}/mcp`, tools: { deny: [] } };
  const desk = await startTestAgent({
    egress: { allowed_private: [`127.0.0.1:${port}`] },
    mcp: { servers: [{ ...server, timeout: '1s', total_timeout: '2s' }] },
  });
  const ended = await desk.post('/tasks/send', script('bank__pay'));
  expect(textOf(ended)).toBe(
    'bank__pay was called off before it ran: it waited at bank for channel:console:desk for too long',
  );
  expect((await bank.get('/deferrals')).body.deferrals).toEqual([]);
  expect(bank.folder.paid).toEqual([]);
});
