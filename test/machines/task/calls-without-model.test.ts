import { describe, expect, it } from 'vitest';
import { describeTask } from '../../../src/machines/task/describe-task.ts';
import type { TaskInput } from '../../../src/machines/task/task-input.ts';
import {
  begin,
  type Effect,
  finish,
  restingStates,
  type Step,
  seen,
  step,
} from '../../helpers/step-task.ts';
import {
  aCall,
  aCaller,
  accepted,
  aDeferral,
  allowed,
  anAttempt,
  aRefusal,
  deferred,
  returned,
  saved,
  times,
  toolFailed,
} from '../../helpers/task-fixtures.ts';

const second = aCall({ id: 'call-2', tool: 'look_up' });

/** A run whose calls are accepted; the first is governed. */
const governing = (calls = [aCall()], input: Partial<TaskInput> = {}): Step =>
  finish(restingStates.accepting(input), 'accept', accepted(calls));

/** The governed call runs and ends with this outcome. */
const ended = (from: Step, call = aCall(), outcome = returned('done')): Step =>
  finish(step(finish(from, 'govern', allowed(call)), saved()), 'runTool', outcome);

const started = ({ effects }: Step): unknown[] =>
  effects.filter(([kind]) => kind === 'start').map(([, port, input]) => [port, input]);

const facts = ({ effects }: Step): string[] =>
  effects.flatMap((effect: Effect) => (effect[0] === 'note' ? [effect[1].type] : []));

const taskOf = ({ snapshot }: Step) => describeTask(snapshot, times.ended, 1, null);

describe('a run that begins with calls', () => {
  it('accepts the calls once its message is screened, and asks no model', () => {
    const calls = [{ tool: 'issue_refund', args: { order: 7 } }];
    expect(seen(restingStates.accepting())).toEqual({
      value: { working: 'accepting' },
      tags: ['working'],
      effects: [
        ['note', { type: 'session.started', requester: aCaller() }],
        ['start', 'accept', { taskId: 'task-1', calls }],
      ],
    });
  });

  it('starts no call if its message is denied', () => {
    const calls = [{ tool: 'issue_refund', args: {} }];
    const denied = begin({ calls, hasModel: false }, { refusal: aRefusal(), took: 0 });
    expect([denied.snapshot.value, started(denied)]).toEqual(['failed', []]);
  });

  it('stores the accepted calls instead of the requested ones, and the time that this took', () => {
    const { snapshot } = governing([aCall(), second]);
    const { run, pending, now, spent, said } = snapshot.context;
    expect([snapshot.value, pending, now, said]).toEqual([
      { working: 'governing' },
      [aCall(), second],
      times.thought,
      [],
    ]);
    expect([run.calls, spent]).toEqual([
      undefined,
      { turns: 0, time: 7, usage: null, tokensPerEstimate: 1 },
    ]);
  });

  it('ends with the result of its last call, with any turn limit', () => {
    const limits = { turns: 1, failedTurns: 1, tokens: null, time: null };
    const first = step(ended(governing([aCall(), second], { limits })), saved());
    expect(first.snapshot.value).toEqual({ working: 'governing' });
    // The end of the last call and that of the run are stored together.
    const last = ended(first, second, returned('found'));
    expect(facts(last)).toEqual(['tool.ended', 'session.ended']);
    const { state, text, answer, usage } = taskOf(last);
    expect({ state, text, answer, usage }).toEqual({
      state: 'completed',
      text: 'found',
      answer: [{ kind: 'text', text: 'found' }],
      usage: undefined,
    });
  });

  it('ends with the text of a rejection that is a result', () => {
    const held = finish(governing(), 'govern', deferred(aDeferral({ onReject: 'tool_result' })));
    const attempt = anAttempt({ verb: 'reject', note: 'no' });
    const rejected = step(step(held, { type: 'deferral.decide', attempt }), saved());
    expect(taskOf(rejected)).toMatchObject({
      state: 'completed',
      text: 'defer: rejected by Ann: no',
    });
  });

  it('fails with the error of a tool', () => {
    const failed = ended(governing(), aCall(), toolFailed('no such order'));
    expect(taskOf(failed)).toMatchObject({
      state: 'failed',
      failure: { kind: 'tool', tool: 'issue_refund', text: 'no such order' },
    });
  });

  it('asks its model after the last call, if it has one', () => {
    const thinking = step(ended(governing([aCall()], { hasModel: true })), saved());
    expect(started(thinking)).toEqual([
      [
        'think',
        expect.objectContaining({ turns: 0, exchanges: [{ call: aCall(), result: 'done' }] }),
      ],
    ]);
  });
});
