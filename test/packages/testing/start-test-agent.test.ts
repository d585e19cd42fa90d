import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { startTestAgent, UnusableAgentError } from '../../../packages/testing/testing.ts';
import { holding, paying } from '../../helpers/held-payments.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const refunds = join(import.meta.dirname, '../../../examples/refunds');

describe('an agent under test', () => {
  it('needs no model key, as no model is called', async () => {
    const model = {
      ...{ provider: 'openai-compatible', name: 'm', base_url: 'https://m.example.com/v1' },
      api_key_env: 'MODEL_API_KEY',
      fallbacks: [{ provider: 'anthropic', name: 'claude-haiku-4-5' }],
    };
    await using agent = await startTestAgent({
      settings: { ...holding({}), model },
      tools: { pay: 'paid' },
    });
    expect((await agent.send('pay 5', { ...paying, id: 't1' })).state).toBe('deferred');
  });

  it('awaits the next held call of a run that continues after a timeout', async () => {
    await using agent = await startTestAgent({
      settings: holding({ timeout: '1m' }, { on_timeout: 'tool_result' }),
      tools: { pay: 'paid' },
    });
    const script = [{ tool: 'pay' }, { tool: 'pay' }, { say: 'done' }];
    await agent.send('pay twice', { ...paying, id: 't1', script });
    await agent.advance('1m');
    expect((await agent.task('t1'))?.state).toBe('deferred');
    await agent.advance('1m');
    expect((await agent.task('t1'))?.state).toBe('completed');
  });

  it('returns every event of a held call, by its own clock', async () => {
    await using agent = await startTestAgent({
      settings: holding({ remind: true }),
      tools: { pay: ({ amount }) => `paid ${String(amount)}` },
      now: Date.UTC(2026, 6, 1, 9),
    });
    const { id, state, text } = await agent.send('pay 5', { ...paying, id: 't1' });
    expect([id, state, text]).toEqual([
      't1',
      'deferred',
      'Deferred: awaiting channel:console:* decision on pay',
    ]);
    const [held] = await agent.held();
    expect(held).toMatchObject({ taskId: 't1', tool: 'pay', args: { amount: 5 }, stage: 'asked' });
    expect(await agent.decide('t1', 'approve', { as: 'eve@example.com' })).toEqual({
      status: 403,
      body: { error: 'approver not authorized', code: 'approver_not_authorized' },
    });
    await agent.advance('3m');
    expect((await agent.held())[0]?.stage).toBe('reminded');
    expect(await agent.decide('t1', 'approve', { as: 'ann@example.com', note: 'ok' })).toEqual({
      status: 200,
      body: {
        task_id: 't1',
        deferral_id: held?.id,
        decision: 'approve',
        approver: 'ann@example.com',
        status: 'resolved',
      },
    });
    expect(await agent.task('t1')).toMatchObject({ state: 'completed', text: 'done: paid 5' });
    const runs = [{ taskId: 't1', callId: held?.id, tool: 'pay', args: { amount: 5 } }];
    expect([agent.runs, await agent.held()]).toEqual([runs, []]);
    expect(agent.events('t1').map(({ ts, event }) => `${ts.slice(11, 19)} ${event}`)).toEqual([
      '09:00:00 session_start',
      '09:00:00 llm_call',
      '09:00:00 call_ruled',
      '09:00:00 task_deferred',
      '09:00:00 task_deferred_decision',
      '09:02:30 task_deferred_reminder',
      '09:03:00 task_deferred_decision',
      '09:03:00 tool_exec',
      '09:03:00 tool_exec',
      '09:03:00 llm_call',
      '09:03:00 session_end',
    ]);
    expect(await agent.verify()).toEqual({ ok: true, text: '12 events, chain intact, 0 signed' });
  });

  it('reminds, escalates and times out during one long wait', async () => {
    const escalate_to = 'channel:console:managers';
    await using agent = await startTestAgent({
      settings: holding({ remind: true, escalate_to }),
      tools: { pay: 'paid' },
    });
    await agent.send('pay', { ...paying, id: 't1' });
    await agent.advance('1h');
    expect(await agent.task('t1')).toMatchObject({
      state: 'failed',
      text: 'defer: no decision within 5m0s (auto-deny)',
    });
    expect(agent.events('t1').map(({ ts, event }) => `${ts.slice(11, 19)} ${event}`)).toEqual([
      '09:00:00 session_start',
      '09:00:00 llm_call',
      '09:00:00 call_ruled',
      '09:00:00 task_deferred',
      '09:02:30 task_deferred_reminder',
      '09:03:45 task_deferred_escalated',
      '09:05:00 task_deferred_timeout',
      '09:05:00 session_end',
    ]);
    expect([agent.now(), agent.runs]).toEqual([Date.UTC(2026, 0, 1, 10), []]);
  });

  it('cancels a task while its tool runs, and aborts the tool', async () => {
    const { promise: aborted, resolve: hear } = Promise.withResolvers<void>();
    const { promise: began, resolve: begin } = Promise.withResolvers<void>();
    await using agent = await startTestAgent({
      settings: {},
      tools: {
        dig: async (_, { signal }) => {
          signal.addEventListener('abort', () => hear());
          begin();
          await aborted;
          return 'late';
        },
      },
    });
    const sending = agent.send('dig', { id: 't1', script: [{ tool: 'dig' }] });
    await began;
    expect((await agent.task('t1'))?.state).toBe('working');
    await expect(agent.send('dig', { id: 't1' })).rejects.toMatchObject({ code: 'task_running' });
    expect(await agent.cancel('t1', { reason: 'cost_limit_exceeded' })).toMatchObject({
      state: 'canceled',
      text: 'canceled: cost_limit_exceeded',
    });
    await aborted;
    expect((await sending).state).toBe('canceled');
    expect(await agent.cancel('t2')).toBeUndefined();
  });

  it('ends a run that works for too long by its own clock', async () => {
    const { promise: began, resolve: begin } = Promise.withResolvers<void>();
    await using agent = await startTestAgent({
      settings: { model: { max_time: '1h' } },
      tools: {
        dig: (_, { signal }) => {
          begin();
          return new Promise((resolve) => signal.addEventListener('abort', () => resolve('late')));
        },
      },
    });
    const sending = agent.send('dig', { script: [{ tool: 'dig' }] });
    await began;
    await agent.advance('59m');
    await agent.advance('1m');
    expect(await sending).toMatchObject({
      state: 'failed',
      text: 'the run was ended after 1h0m0s of work; give the agent a narrower task, or raise model.max_time',
    });
  });

  it('fails a call like its tool, with its message', async () => {
    await using agent = await startTestAgent({
      settings: {},
      tools: {
        pay: () => {
          throw new Error('the till is empty');
        },
        look: () => ({ left: 0 }),
      },
    });
    expect((await agent.send('pay', paying)).text).toBe('the till is empty');
    const looking = [{ tool: 'look' }, { say: '{result}' }];
    expect((await agent.send('look', { script: looking })).text).toBe('{"left":0}');
  });

  it.each([
    ['abandon', 'failed', 'defer: abandoned by service restart'],
    ['resume', 'deferred', 'Deferred: awaiting channel:console:* decision on pay'],
  ])(
    'is restarted, and handles waiting calls by on_restart: %s',
    async (on_restart, state, text) => {
      await using agent = await startTestAgent({
        settings: holding({}, { on_restart }),
        tools: { pay: 'paid' },
      });
      await agent.send('pay', { ...paying, id: 't1' });
      await agent.restart();
      expect(await agent.task('t1')).toMatchObject({ state, text });
      await agent.advance('5m');
      expect((await agent.task('t1'))?.state).toBe('failed');
      expect(await agent.verify()).toMatchObject({ ok: true });
    },
  );

  it('repeats the same steps with the same ids', async () => {
    const told = async () => {
      await using agent = await startTestAgent({ settings: holding(), tools: { pay: 'paid' } });
      const { id } = await agent.send('pay', paying);
      await agent.decide(id, 'reject', { as: 'ann@example.com' });
      return [agent.runs, agent.events().map(({ event, ts, task_id }) => [event, ts, task_id])];
    };
    expect(await told()).toEqual(await told());
  });

  it('leaves nothing behind', async () => {
    const folder = temporaryFolder();
    vi.stubEnv('TMPDIR', folder);
    const open = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP'));
    const before = open();
    const agent = await startTestAgent({ settings: {}, tools: { pay: 'paid' } });
    const [home = ''] = readdirSync(folder);
    expect(dirname(dirname(agent.auditPath))).toBe(join(folder, home, 'state'));
    expect(open()).toEqual(before);
    await agent[Symbol.asyncDispose]();
    expect(existsSync(join(folder, home))).toBe(false);
  });
});

describe('an agent that cannot be tested', () => {
  it('is refused with every problem and its place, and leaves nothing behind', async () => {
    const folder = temporaryFolder();
    vi.stubEnv('TMPDIR', folder);
    const starting = startTestAgent({ settings: { securty: {}, ...holding({ to: 'ann' }) } });
    await expect(starting).rejects.toBeInstanceOf(UnusableAgentError);
    await expect(starting).rejects.toThrow(/^the agent cannot be started:\nservice.yaml:\d+:\d+/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is refused when a stand-in exists for an unknown tool', async () => {
    const starting = startTestAgent({ folder: refunds, tools: { issue_refnd: 'ok' } });
    await expect(starting).rejects.toThrow(
      'the agent has no tool issue_refnd to replace; it has datetime_now, lookup_order, issue_refund',
    );
  });
});
