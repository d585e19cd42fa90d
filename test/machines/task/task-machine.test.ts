import { describe, expect, it } from 'vitest';
import { initialTransition, transition } from 'xstate';
import type { Refusal } from '../../../src/machines/domain/finding.ts';
import type { DecisionRecord, ToolCall } from '../../../src/machines/domain/task.ts';
import type { Ruling } from '../../../src/machines/governance/ruling.ts';
import { defaultLimits } from '../../../src/machines/task/limits.ts';
import { taskMachine } from '../../../src/machines/task/task-machine.ts';
import {
  begin,
  finish,
  released,
  restingStates,
  type Step,
  step,
} from '../../helpers/step-task.ts';
import {
  aCall,
  aCaller,
  aDeferral,
  aFollowUp,
  allowed,
  anAttempt,
  aRefusal,
  aSettledDeferral,
  aTaskInput,
  deferred,
  digest,
  minted,
  returned,
  said,
  saved,
  times,
  toolFailed,
} from '../../helpers/task-fixtures.ts';

const { governing, asked, minting, starting, running, recording } = restingStates;
const second = aCall({ id: 'call-2', tool: 'look_up' });
const by = { provider: 'scripted', model: 'demo' };

/** What a port was started with last. */
const startedWith = ({ effects }: Step): unknown => effects.find(([kind]) => kind === 'start')?.[2];

/** Lets a call that is governed run and end. */
const run = (from: Step, call: ToolCall, outcome = returned('done')): Step => {
  const ended = finish(step(finish(from, 'govern', allowed(call)), saved()), 'runTool', outcome);
  return step(ended, saved());
};

describe('a task whose message is still being screened', () => {
  const logic = taskMachine.provide({ actions: { screenPrompt: () => undefined } });
  const [submitted] = initialTransition(logic, aTaskInput());
  const screened = (refusal: Refusal | null) =>
    transition(logic, submitted, { type: 'prompt.screened', refusal, took: 0 })[0].value;

  it('is submitted, and no port was asked', () => {
    const { value, tags, children, context } = submitted;
    expect({ value, tags: [...tags], children, turns: context.spent.turns }).toEqual({
      value: 'submitted',
      tags: ['submitted'],
      children: {},
      turns: 0,
    });
  });

  it('starts its work, or ends, after the screening', () => {
    expect([screened(null), screened(aRefusal())]).toEqual([{ working: 'thinking' }, 'failed']);
  });
});

describe('the ports of a task', () => {
  const { request } = aTaskInput();
  const earlier = { ...request, messageId: 'm-0' };
  const old = { ...request, messageId: 'm-00' };
  const input = {
    surface: 'mcp',
    tags: { workflow_id: 'w-1' },
    session: [old],
    history: [earlier],
    requester: aCaller({ acr: 'gold' }),
  } as const;
  const full = { ...input, session: [old], history: [earlier] };

  it('send the model the whole run in each turn', () => {
    const thought = { ...said('let me see', [aCall()]), estimatedTokens: 2 };
    let task = finish(begin(full), 'think', thought);
    task = finish(task, 'govern', deferred());
    const { message } = aFollowUp();
    task = step(task, { type: 'message.received', message, refusal: null, sender: null });
    task = released(task);
    task = step(finish(step(task, saved()), 'runTool', returned('paid')), saved());
    const turn = { taskId: 'task-1', correlationId: 'correlation-1', request };
    const parts = [{ kind: 'text', text: 'let me see' }, { kind: 'call' }];
    expect(startedWith(task)).toStrictEqual({
      ...turn,
      history: [old, earlier],
      exchanges: [{ call: aCall(), result: 'paid' }],
      said: [{ after: 0, by, parts }],
      followUps: [aFollowUp()],
      turns: 1,
      told: 0,
      tokensPerEstimate: 1.5,
      ran: [
        {
          ...{ tool: 'issue_refund', callId: 'call-1', argsSha256: digest, args: '{"order":7}' },
          ...{ outcome: 'succeeded', at: times.began, approver: 'Ann' },
        },
      ],
    });
    task = run(finish(task, 'think', said('', [second])), second);
    expect(startedWith(task)).toMatchObject({ turns: 2, told: 1 });
  });

  it('send governance the caller, the call and the time', () => {
    const task = finish(begin(full), 'think', said('', [aCall(), second]));
    expect(startedWith(task)).toStrictEqual({
      taskId: 'task-1',
      call: aCall(),
      request,
      requester: aCaller({ acr: 'gold' }),
      speakers: [null, null],
      task: { session: 'context-1', surface: 'mcp', tags: { workflow_id: 'w-1' } },
      scores: [],
      held: null,
      ran: [],
      now: times.thought,
    });
  });

  it('send the tool its caller and the released arguments', () => {
    const task = finish(finish(begin(full), 'think', said('', [aCall()])), 'govern', deferred());
    const approved = released(task);
    expect(startedWith(step(approved, saved()))).toStrictEqual({
      taskId: 'task-1',
      correlationId: 'correlation-1',
      tags: { workflow_id: 'w-1' },
      call: aCall(),
      approvedSha256: digest,
      needsCredential: false,
    });
  });

  it('send the tool nothing of a release for the call before', () => {
    const task = finish(governing([aCall(), second]), 'govern', deferred());
    const approved = released(task);
    const next = step(finish(step(approved, saved()), 'runTool', returned('paid')), saved());
    const started = step(finish(next, 'govern', allowed(second)), saved());
    expect(startedWith(started)).toMatchObject({ call: second, approvedSha256: null });
  });
});

describe('the stored result of governance', () => {
  const record = (layer: DecisionRecord['layer'], duration: number): DecisionRecord => ({
    callId: 'call-1',
    tool: 'issue_refund',
    layer,
    decision: 'allow',
    reason: 'no rule denies it',
    duration,
  });
  const records = [record('alignment', 2), record('modify', 3)];

  it('contains every record in order, and their duration as work', () => {
    const first = finish(governing([aCall(), second]), 'govern', { ...allowed(), records });
    const { context } = first.snapshot;
    expect([context.records, context.spent.time]).toEqual([records, 17]);
    const ended = step(finish(step(first, saved()), 'runTool', returned('done')), saved());
    const [output] = ended.snapshot.context.records.slice(2);
    const more = [record('defer', 1)];
    const next = finish(ended, 'govern', { ...allowed(second), records: more });
    expect(next.snapshot.context.records).toEqual([...records, output, ...more]);
    expect(next.snapshot.context.spent.time).toBe(518);
  });

  it('contains the call and the credentials only of a ruling that allows it', () => {
    const told = { records, facts: [], score: 0.5 };
    const ruling: Ruling = { kind: 'misfit', layer: 'alignment', text: 'unknown tool', ...told };
    const task = finish(begin({ onToolError: 'return' }), 'think', said('', [aCall(), second]));
    const { context } = finish(task, 'govern', ruling).snapshot;
    expect(context).toMatchObject({
      pending: [second],
      exchanges: [{ call: aCall(), result: 'unknown tool', failed: true }],
      credential: null,
      scores: [0.5],
      records,
      now: times.thought,
    });
  });

  it('drops the last decision once the next call is held', () => {
    const settled = aSettledDeferral({ id: 'call-0' });
    const thinking = begin({ settled });
    const allowedOne = finish(finish(thinking, 'think', said('', [aCall()])), 'govern', allowed());
    expect(allowedOne.snapshot.context).toMatchObject({ settled, deferral: null });
    const held = finish(finish(thinking, 'think', said('', [aCall()])), 'govern', deferred());
    expect(held.snapshot.context).toMatchObject({ settled: null, deferral: aDeferral() });
  });
});

describe('the work time of a task', () => {
  const timeOf = ({ snapshot }: Step) => snapshot.context.spent.time;

  it('counts turns, rulings, credentials and calls, but no wait', () => {
    const begun = finish(minting(), 'mint', minted());
    expect([timeOf(minting()), timeOf(begun), timeOf(starting())]).toEqual([12, 15, 12]);
    expect(timeOf(finish(step(begun, saved()), 'runTool', returned('done')))).toBe(515);
    const decided = step(asked(), { type: 'deferral.decide', attempt: anAttempt() });
    expect(timeOf(decided)).toBe(12);
  });

  it('counts a failed call whose error the model received', () => {
    const task = finish(begin({ onToolError: 'return' }), 'think', said('', [aCall()]));
    const ran = step(finish(task, 'govern', allowed()), saved());
    expect(timeOf(finish(ran, 'runTool', toolFailed('closed')))).toBe(512);
  });
});

describe('the end of a call', () => {
  const limited = (limits: object, calls = [aCall(), second]): Step =>
    finish(
      begin({ onToolError: 'return', limits: { ...defaultLimits, ...limits } }),
      'think',
      said('', calls),
    );

  it.each([
    [
      'starts the next call of the turn',
      {},
      [aCall(), second],
      { working: 'governing' },
      undefined,
    ],
    ['asks the model after the last call', {}, [aCall()], { working: 'thinking' }, undefined],
    [
      'ends a run whose time is over, with calls left',
      { time: 512 },
      [aCall(), second],
      'failed',
      'timeLimit',
    ],
    [
      'continues one millisecond before that',
      { time: 513 },
      [aCall(), second],
      { working: 'governing' },
      undefined,
    ],
    [
      'counts errors when all calls of the turn have ended',
      { failedTurns: 1 },
      [aCall(), second],
      { working: 'governing' },
      undefined,
    ],
    ['ends a run with only errors', { failedTurns: 1 }, [aCall()], 'failed', 'errorLimit'],
    [
      'reports errors before turns',
      { failedTurns: 1, turns: 1 },
      [aCall()],
      'failed',
      'errorLimit',
    ],
    ['reports time before errors', { failedTurns: 1, time: 512 }, [aCall()], 'failed', 'timeLimit'],
    ['ends a run without turns left', { turns: 1 }, [aCall()], 'failed', 'turnLimit'],
    [
      'asks the model while a turn is left',
      { turns: 2 },
      [aCall()],
      { working: 'thinking' },
      undefined,
    ],
  ])('%s', (_, limits, calls, value, kind) => {
    const { snapshot } = run(limited(limits, calls), aCall(), toolFailed('closed'));
    expect([snapshot.value, snapshot.context.failure?.kind]).toEqual([value, kind]);
  });
});

describe('a wait without reminders', () => {
  it.each([0, times.reminded, times.escalated, times.expired - 1])(
    'ignores a reminder at %d',
    (at) => {
      const from = asked();
      const after = step(from, { type: 'deadline.reached', at });
      expect([after.effects, after.snapshot.toJSON()]).toEqual([[], from.snapshot.toJSON()]);
    },
  );

  it.each([
    ['reminder', { remindAt: times.expired }],
    ['escalation', { escalateAt: times.expired, escalateTo: 'channel:console:managers' }],
  ])('ends at its deadline, and sends no %s then', (_, more) => {
    const over = step(asked(aDeferral(more)), { type: 'deadline.reached', at: times.expired });
    expect(over.snapshot.value).toBe('failed');
    expect(over.effects.map((effect) => effect[0] === 'note' && effect[1].type)).toEqual([
      'deferral.timedOut',
      'session.ended',
    ]);
  });
});

describe('a check of the time while a task works', () => {
  const from = (limits: object) =>
    finish(begin({ limits: { ...defaultLimits, ...limits } }), 'think', said('', [aCall()]));

  it.each([
    ['ends the task at its limit', { time: 20 }, 8, 'failed'],
    ['changes nothing before the limit', { time: 20 }, 7, { working: 'governing' }],
    ['changes nothing without a limit', {}, 1e9, { working: 'governing' }],
    ['ignores the token limit', { tokens: 9 }, 1e9, { working: 'governing' }],
  ])('%s', (_, limits, busy, value) => {
    const after = step(from(limits), { type: 'time.passed', at: times.ended, busy });
    expect(after.snapshot.value).toEqual(value);
  });
});

describe('the states of a task that wait for the disk', () => {
  it('are the only ones with that tag', () => {
    const states = Object.entries(restingStates).map(([name, reach]) => [name, reach()] as const);
    expect(
      states.filter(([, { snapshot }]) => snapshot.hasTag('saving')).map(([name]) => name),
    ).toEqual(['starting', 'recording']);
  });

  it('read when a call started: 0 until it is stored, and nothing after its end', () => {
    const startedAt = (at: Step) => at.snapshot.context.startedAt;
    expect([governing(), minting(), starting(), running(), recording()].map(startedAt)).toEqual([
      null,
      null,
      0,
      times.began,
      null,
    ]);
  });
});
