import { describe, expect, it } from 'vitest';
import { TaskRun } from '../../helpers/run-task.ts';
import {
  aCall,
  aDeferRule,
  aDeferral,
  anAttempt,
  aTaskInput,
  digest,
  modelFailed,
  returned,
  runsDigest,
  said,
  times,
  toolFailed,
  toolRules,
} from '../../helpers/task-fixtures.ts';

const lookUp = aCall({ id: 'call-0', tool: 'look_up' });

async function parkedRun(options: ConstructorParameters<typeof TaskRun>[0] = {}): Promise<TaskRun> {
  const run = new TaskRun(options);
  await run.finish('think', said('', [aCall()]));
  return run;
}

describe('a task from its acceptance to its end', () => {
  it('answers without a tool', async () => {
    const run = new TaskRun();
    await run.finish('think', said('hello'));
    expect(run.task).toMatchObject({ state: 'completed', text: 'hello' });
    expect(run.journal).toEqual([
      'think',
      'note session.started',
      'note model.called',
      'note session.ended',
    ]);
  });

  it('runs an allowed call and sends the model the result', async () => {
    const run = new TaskRun();
    await run.finish('think', said('', [lookUp]));
    await run.runsTool(returned('order 7 is paid'));
    expect(run.inputs.think.at(-1)).toMatchObject({
      exchanges: [{ call: lookUp, result: 'order 7 is paid' }],
      turns: 1,
    });
    await run.finish('think', said('it is paid', [], times.ended));
    expect(run.task).toMatchObject({ state: 'completed', text: 'it is paid', deferral: null });
    expect(run.facts.map(({ type }) => type)).toEqual([
      'session.started',
      'model.called',
      'call.ruled',
      'tool.started',
      'tool.ended',
      'model.called',
      'session.ended',
    ]);
  });

  it('reports for each turn the new messages, and the request once', async () => {
    const run = new TaskRun();
    const calls = ['call-1', 'call-2', 'call-3'].map((id) => aCall({ id, tool: 'look_up' }));
    const [first, second, third] = calls.map((call) => ({ call, result: `of ${call.id}` }));
    await run.finish('think', said('', calls.slice(0, 2)));
    await run.runsTool(returned('of call-1'));
    await run.runsTool(returned('of call-2'));
    await run.finish('think', said('', calls.slice(2)));
    await run.runsTool(returned('of call-3'));
    await run.finish('think', said('done'));
    expect(run.factsOf('model.called').map(({ heard }) => heard)).toEqual([
      { request: aTaskInput().request, exchanges: [], followUps: [] },
      { request: null, exchanges: [first, second], followUps: [] },
      { request: null, exchanges: [third], followUps: [] },
    ]);
    expect(run.inputs.think.map(({ exchanges }) => exchanges)).toEqual([
      [],
      [first, second],
      [first, second, third],
    ]);
  });

  it('refuses an unknown tool', async () => {
    const run = new TaskRun();
    await run.finish('think', said('', [aCall({ tool: 'wipe_disk' })]));
    expect(run.task).toMatchObject({ state: 'failed', text: 'unknown tool: wipe_disk' });
    expect(run.journal.slice(2)).toEqual([
      'note model.called',
      'note call.ruled',
      'note session.ended',
    ]);
  });

  it('waits for an approval, runs, asks the model again and completes', async () => {
    const run = await parkedRun();
    expect(run.task).toMatchObject({
      state: 'deferred',
      text: 'Deferred: awaiting channel:slack:#refunds decision on issue_refund',
      deferral: aDeferral(),
    });
    expect(run.awaited).toBeNull();
    await run.decide(anAttempt({ note: 'checked' }));
    expect(run.task).toMatchObject({ state: 'working', text: null, deferral: null });
    await run.runsTool(returned('refunded'));
    await run.finish('think', said('done', [], times.ended));
    expect(run.task).toMatchObject({ state: 'completed', text: 'done' });
    expect(run.inputs.runTool).toMatchObject([{ call: aCall(), approvedSha256: digest }]);
    expect(run.answers.map(({ kind }) => kind)).toEqual(['resolved']);
    expect(run.journal).toEqual([
      'think',
      'note session.started',
      'note model.called',
      'note call.ruled',
      'note deferral.opened',
      'note deferral.decided',
      'note tool.started',
      'runTool',
      'note tool.ended',
      'think',
      'note model.called',
      'note session.ended',
    ]);
  });

  it('never runs a rejected call', async () => {
    const run = await parkedRun();
    await run.decide(anAttempt({ verb: 'reject', approver: null, note: 'no receipt' }));
    expect(run.task).toMatchObject({
      state: 'failed',
      text: 'defer: rejected by unknown: no receipt',
      settled: { decision: 'reject', approver: 'unknown', note: 'no receipt' },
    });
    expect(run.factsOf('tool.started')).toEqual([]);
  });

  it('denies at the deadline, not before, and never twice', async () => {
    const run = await parkedRun();
    run.clock.set(times.expired - 1);
    expect(run.task.state).toBe('deferred');
    run.clock.set(times.expired);
    run.clock.set(times.expired * 2);
    expect(run.task).toMatchObject({
      state: 'failed',
      text: 'defer: no decision within 5m0s (auto-deny)',
      settled: null,
    });
    expect(run.factsOf('deferral.timedOut')).toEqual([
      {
        type: 'deferral.timedOut',
        call: {
          callId: 'call-1',
          argsSha256: digest,
          deferralId: 'call-1',
          runsSha256: runsDigest,
        },
        tool: 'issue_refund',
        timeout: 300_000,
        wait: 300_000,
      },
    ]);
  });

  it('does not time out after a decision', async () => {
    const run = await parkedRun();
    await run.decide(anAttempt());
    run.clock.set(times.expired * 2);
    expect(run.task.state).toBe('working');
    expect(run.factsOf('deferral.timedOut')).toEqual([]);
  });
});

describe('several calls in one turn', () => {
  it('run one after the other, each under governance', async () => {
    const second = aCall({ id: 'call-2' });
    const rulesFor = () => toolRules({ defer: aDeferRule() });
    const run = new TaskRun({ rulesFor });
    await run.finish('think', said('', [aCall(), second]));
    expect(run.task.deferral?.id).toBe('call-1');
    await run.decide(anAttempt());
    await run.runsTool(returned('first', times.ended));
    expect(run.task.deferral).toMatchObject({
      id: 'call-2',
      requestedAt: times.ended,
      expiresAt: times.ended + 300_000,
    });
    expect(run.inputs.runTool).toHaveLength(1);
    await run.decide(anAttempt({ at: times.ended + 1, deferralId: 'call-1' }));
    await run.decide(anAttempt({ at: times.ended + 1, deferralId: 'call-2' }));
    await run.runsTool(returned('second', times.ended + 2));
    expect(run.answers.map(({ kind }) => kind)).toEqual(['resolved', 'otherDeferral', 'resolved']);
    expect(run.inputs.think.at(-1)?.exchanges).toEqual([
      { call: aCall(), result: 'first' },
      { call: second, result: 'second' },
    ]);
    expect(run.inputs.think).toHaveLength(2);
  });

  it('drop the decision on the first call when the second one waits', async () => {
    const run = new TaskRun({ rulesFor: () => toolRules({ defer: aDeferRule() }) });
    await run.finish('think', said('', [aCall(), aCall({ id: 'call-2' })]));
    await run.decide(anAttempt());
    await run.runsTool(returned('first'));
    expect(run.task).toMatchObject({ deferral: { id: 'call-2' }, settled: null });
    run.clock.set(times.ended + 300_000);
    expect(run.task).toMatchObject({ failure: { kind: 'timedOut' }, settled: null });
  });

  it('do not use the approval of one call for the next one', async () => {
    const run = new TaskRun();
    await run.finish('think', said('', [aCall(), lookUp]));
    await run.decide(anAttempt());
    await run.runsTool(returned('first'));
    await run.runsTool(returned('second'));
    expect(run.inputs.runTool.map(({ approvedSha256 }) => approvedSha256)).toEqual([digest, null]);
  });

  it('are dropped after the first failed call', async () => {
    const run = new TaskRun();
    await run.finish('think', said('', [lookUp, aCall()]));
    await run.runsTool(toolFailed('order 7 is unknown'));
    expect(run.task).toMatchObject({ state: 'failed', text: 'order 7 is unknown' });
    expect(run.factsOf('deferral.opened')).toEqual([]);
    expect(run.awaited).toBeNull();
  });
});

describe('a failing model', () => {
  it('fails the task with its error', async () => {
    const run = new TaskRun();
    await run.finish('think', modelFailed('no quota'));
    expect(run.task).toMatchObject({ state: 'failed', text: 'no quota' });
  });

  it('is asked at most 50 times', async () => {
    const run = new TaskRun();
    for (let turn = 1; turn <= 50; turn += 1) {
      await run.finish('think', said('', [aCall({ id: `call-${turn}`, tool: 'look_up' })]));
      await run.runsTool(returned('nothing'));
    }
    expect(run.inputs.think).toHaveLength(50);
    expect(run.inputs.runTool).toHaveLength(50);
    expect(run.task).toMatchObject({ state: 'failed', failure: { kind: 'turnLimit' } });
  });
});

describe('failing governance', () => {
  it('runs nothing and asks no approver', async () => {
    const rulesFor = (): never => {
      throw new Error('the layer broke');
    };
    const run = await parkedRun({ rulesFor });
    expect(run.errors).toEqual([new Error('the layer broke')]);
    expect(run.awaited).toBeNull();
    expect(run.journal.slice(2)).toEqual(['note model.called']);
  });
});
