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

  it('is submitted, and nobody has been asked anything', () => {
    const { value, tags, children, context } = submitted;
    expect({ value, tags: [...tags], children, turns: context.spent.turns }).toEqual({
      value: 'submitted',
      tags: ['submitted'],
      children: {},
      turns: 0,
    });
  });

  it('begins its work, or ends, when that is over', () => {
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

  it('tell the model all of its run in each turn', () => {
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

  it('tell governance who asked for what, and when', () => {
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

  it('tell the tool on whose behalf it runs, and what was released', () => {
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

  it('tell the tool of a release that was for the call before nothing of it', () => {
    const task = finish(governing([aCall(), second]), 'govern', deferred());
    const approved = released(task);
    const next = step(finish(step(approved, saved()), 'runTool', returned('paid')), saved());
    const started = step(finish(next, 'govern', allowed(second)), saved());
    expect(startedWith(started)).toMatchObject({ call: second, approvedSha256: null });
  });
});

describe('what a task keeps of what governance says', () => {
  const record = (layer: DecisionRecord['layer'], duration: number): DecisionRecord => ({
    callId: 'call-1',
    tool: 'issue_refund',
    layer,
    decision: 'allow',
    reason: 'no rule denies it',
    duration,
  });
  const records = [record('alignment', 2), record('modify', 3)];

  it('is every record in order, and their time as work', () => {
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

  it('is the call and the credentials of a ruling that lets it go on, and of no other', () => {
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

  it('is no decision of before once the next call is held', () => {
    const settled = aSettledDeferral({ id: 'call-0' });
    const thinking = begin({ settled });
    const allowedOne = finish(finish(thinking, 'think', said('', [aCall()])), 'govern', allowed());
    expect(allowedOne.snapshot.context).toMatchObject({ settled, deferral: null });
    const held = finish(finish(thinking, 'think', said('', [aCall()])), 'govern', deferred());
    expect(held.snapshot.context).toMatchObject({ settled: null, deferral: aDeferral() });
  });
});

describe('the work of a task', () => {
  const timeOf = ({ snapshot }: Step) => snapshot.context.spent.time;

  it('counts turns, rulings, credentials and calls, and no wait', () => {
    const begun = finish(minting(), 'mint', minted());
    expect([timeOf(minting()), timeOf(begun), timeOf(starting())]).toEqual([12, 15, 12]);
    expect(timeOf(finish(step(begun, saved()), 'runTool', returned('done')))).toBe(515);
    const decided = step(asked(), { type: 'deferral.decide', attempt: anAttempt() });
    expect(timeOf(decided)).toBe(12);
  });

  it('counts a call that failed and was told to the model', () => {
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
      'takes up the next call of the turn',
      {},
      [aCall(), second],
      { working: 'governing' },
      undefined,
    ],
    ['asks the model when there is none', {}, [aCall()], { working: 'thinking' }, undefined],
    [
      'ends a run whose time is up, though calls are left',
      { time: 512 },
      [aCall(), second],
      'failed',
      'timeLimit',
    ],
    [
      'goes on a millisecond before that',
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
    [
      'ends a run that got nothing but errors',
      { failedTurns: 1 },
      [aCall()],
      'failed',
      'errorLimit',
    ],
    ['names errors before turns', { failedTurns: 1, turns: 1 }, [aCall()], 'failed', 'errorLimit'],
    ['names time before errors', { failedTurns: 1, time: 512 }, [aCall()], 'failed', 'timeLimit'],
    ['ends a run without turns left', { turns: 1 }, [aCall()], 'failed', 'turnLimit'],
    [
      'asks the model while one is left',
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

describe('a wait that nobody is reminded of', () => {
  it.each([0, times.reminded, times.escalated, times.expired - 1])(
    'goes on at %d as if nothing was',
    (at) => {
      const from = asked();
      const after = step(from, { type: 'deadline.reached', at });
      expect([after.effects, after.snapshot.toJSON()]).toEqual([[], from.snapshot.toJSON()]);
    },
  );

  it.each([
    ['reminder', { remindAt: times.expired }],
    ['escalation', { escalateAt: times.expired, escalateTo: 'channel:console:managers' }],
  ])('ends at its end, and sends no %s then', (_, more) => {
    const over = step(asked(aDeferral(more)), { type: 'deadline.reached', at: times.expired });
    expect(over.snapshot.value).toBe('failed');
    expect(over.effects.map((effect) => effect[0] === 'note' && effect[1].type)).toEqual([
      'deferral.timedOut',
      'session.ended',
    ]);
  });
});

describe('time that passes while a task works', () => {
  const from = (limits: object) =>
    finish(begin({ limits: { ...defaultLimits, ...limits } }), 'think', said('', [aCall()]));

  it.each([
    ['ends it at its limit', { time: 20 }, 8, 'failed'],
    ['leaves it alone before', { time: 20 }, 7, { working: 'governing' }],
    ['leaves it alone without a limit', {}, 1e9, { working: 'governing' }],
    ['is no matter of tokens', { tokens: 9 }, 1e9, { working: 'governing' }],
  ])('%s', (_, limits, busy, value) => {
    const after = step(from(limits), { type: 'time.passed', at: times.ended, busy });
    expect(after.snapshot.value).toEqual(value);
  });
});

describe('the states of a task that wait for the disk', () => {
  it('say so, and no other', () => {
    const states = Object.entries(restingStates).map(([name, reach]) => [name, reach()] as const);
    expect(
      states.filter(([, { snapshot }]) => snapshot.hasTag('saving')).map(([name]) => name),
    ).toEqual(['starting', 'recording']);
  });

  it('know when a call started: 0 until that is on disk, and nothing once it has ended', () => {
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
