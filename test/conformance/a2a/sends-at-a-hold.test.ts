import { describe, expect, it } from 'vitest';
import { deferring, startTestAgent } from '../../helpers/test-agent.ts';
import { ask, wireSurfaces } from './wire-surfaces.ts';

const steps = [{ tool: 'pay', args: { amount: 3 } }, { say: 'paid' }];
const approval = { decision: 'approve', approver: 'Ann' };

describe.each(wireSurfaces)('a send over $name that needs an approval', (surface) => {
  it('is answered with the task and its deferral, which are stored', async () => {
    const agent = await startTestAgent(deferring());
    const answer = await ask(agent, surface, 'send', { message: surface.playing(steps) });
    const { id, status, metadata } = surface.taskOf(answer);
    expect(status.state).toBe(surface.state('auth-required'));
    const { body: onDisk } = await agent.get(`/tasks/${id}`);
    expect(onDisk.status.state).toBe('deferred');
    expect(metadata.deferral).toEqual(onDisk.metadata.deferral);
    expect(agent.audit(id).at(-1)).toMatchObject({ event: 'task_deferred' });
    expect((await agent.decide(id, approval)).status).toBe(200);
    await agent.reached(id, 'completed');
  });

  it('is held until the task is final where that is configured', async () => {
    const agent = await startTestAgent({ ...deferring(), server: { a2a_hold: true } });
    const sent = ask(agent, surface, 'send', { message: surface.playing(steps) });
    await expect.poll(async () => (await agent.get('/deferrals')).body.deferrals.length).toBe(1);
    const [{ task_id: id }] = (await agent.get('/deferrals')).body.deferrals;
    const first = await Promise.race([sent, agent.decide(id, approval)]);
    expect(first.body).toMatchObject({ status: 'resolved' });
    const task = surface.taskOf(await sent);
    expect([task.id, task.status.state]).toEqual([id, surface.state('completed')]);
  });
});

it('a legacy send is held through a decision, under any settings of other versions', async () => {
  const agent = await startTestAgent(deferring());
  const sent = agent.send('t', steps);
  await agent.reached('t', 'deferred');
  const first = await Promise.race([sent, agent.decide('t', approval)]);
  expect(first.body).toMatchObject({ status: 'resolved' });
  expect((await sent).body.status.state).toBe('completed');
});
