import { describe, expect, it } from 'vitest';
import { deferring, expectIntact, startTestAgent, story, textOf } from '../helpers/test-agent.ts';

const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid {result}' }];

describe('a caller that disconnects while a task waits', () => {
  it('does not end a sent task, and its result can be read later', async () => {
    const agent = await startTestAgent(deferring());
    const abort = new AbortController();
    const held = agent.send('t1', script, abort.signal);
    await agent.reached('t1', 'deferred');
    abort.abort();
    await expect(held).rejects.toThrow('abort');
    expect((await agent.decide('t1', { decision: 'approve', approver: 'ann' })).status).toBe(200);
    expect(textOf({ body: await agent.reached('t1', 'completed') })).toBe('paid {"amount":5}');
    expect(agent.folder.paid).toHaveLength(1);
    expect(agent.audit('t1').map(({ event }) => event)).not.toContain('task_deferred_abandoned');
  });

  it('does not change the time limit of a sent task', async () => {
    const agent = await startTestAgent(deferring({ timeout: '300ms' }));
    const abort = new AbortController();
    const held = agent.send('t1', script, abort.signal);
    await agent.reached('t1', 'deferred');
    abort.abort();
    await expect(held).rejects.toThrow('abort');
    expect(textOf({ body: await agent.reached('t1', 'failed') })).toBe(
      'defer: no decision within 300ms (auto-deny)',
    );
  });

  it('over JSON-RPC does not end the task either', async () => {
    const agent = await startTestAgent(deferring());
    const abort = new AbortController();
    const params = { id: 't1', message: { parts: [{ kind: 'data', data: { script } }] } };
    const body = { jsonrpc: '2.0', id: 1, method: 'tasks/send', params };
    const held = agent.request('POST', '/', { body, signal: abort.signal });
    await agent.reached('t1', 'deferred');
    abort.abort();
    await expect(held).rejects.toThrow('abort');
    expect((await agent.decide('t1', { decision: 'approve' })).status).toBe(200);
    await agent.reached('t1', 'completed');
  });

  it('abandons the wait of a streamed task, which is logged', async () => {
    const agent = await startTestAgent(deferring());
    const stream = await agent.subscribe('t1', script);
    await stream.untilState('deferred');
    stream.leave();
    expect(textOf({ body: await agent.reached('t1', 'failed') })).toBe(
      'defer: abandoned, caller disconnected',
    );
    expect(await agent.decide('t1', { decision: 'approve' })).toMatchObject({
      status: 404,
      body: { error: 'no pending deferral for task', code: 'deferral_not_found' },
    });
    expect((await agent.get('/deferrals')).body).toEqual({ deferrals: [], total: 0 });
    expect(agent.folder.paid).toEqual([]);
    expect(story(agent.audit('t1')).slice(-2)).toEqual([
      ['task_deferred_abandoned', { tool: 'pay', reason: 'caller_disconnected' }],
      ['session_end', { state: 'failed' }],
    ]);
    await expectIntact(agent.auditPath);
  });

  it('does not end a streamed task that is marked to be kept', async () => {
    const agent = await startTestAgent(deferring({}, { on_stream_disconnect: 'keep' }));
    const stream = await agent.subscribe('t1', script);
    await stream.untilState('deferred');
    stream.leave();
    expect((await agent.decide('t1', { decision: 'approve' })).status).toBe(200);
    expect(textOf({ body: await agent.reached('t1', 'completed') })).toBe('paid {"amount":5}');
  });

  it('as a second subscriber changes nothing for the others', async () => {
    const agent = await startTestAgent(deferring());
    const stream = await agent.subscribe('t1', script);
    await stream.untilState('deferred');
    for (let round = 0; round < 5; round += 1) {
      const joiner = await agent.stream('/tasks/t1/events');
      await joiner.untilState('deferred');
      joiner.leave();
    }
    expect((await agent.decide('t1', { decision: 'approve' })).status).toBe(200);
    expect((await stream.rest()).at(-1)?.data.status.state).toBe('completed');
  });
});

describe('a caller that disconnects while a task works', () => {
  it('does not end it, streamed or not', async () => {
    const agent = await startTestAgent();
    const stream = await agent.subscribe('t1', [{ tool: 'hold' }, { say: 'got {result}' }]);
    await expect.poll(() => agent.folder.held.length, { timeout: 5_000 }).toBe(1);
    stream.leave();
    await agent.folder.openGate('it');
    expect(textOf({ body: await agent.reached('t1', 'completed') })).toBe('got it');
  });

  it('and reconnects a hundred times leaves nothing in memory', async () => {
    const agent = await startTestAgent(deferring());
    const held = agent.send('t1', script);
    await agent.reached('t1', 'deferred');
    for (let round = 0; round < 100; round += 1) {
      const joiner = await agent.stream('/tasks/t1/events');
      await joiner.next();
      joiner.leave();
    }
    await agent.post('/tasks/t1/cancel');
    await held;
    expect(agent.log.filter(({ level }) => level === 'error')).toEqual([]);
    const { body } = await agent.get('/metrics');
    expect(body).toContain('holdpoint_tasks_live 0');
  });
});
