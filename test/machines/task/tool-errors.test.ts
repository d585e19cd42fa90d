import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolCall } from '../../../src/machines/domain/task.ts';
import type { Ruling } from '../../../src/machines/governance/ruling.ts';
import { defaultLimits } from '../../../src/machines/task/limits.ts';
import type { ThinkInput, Thought, ToolOutcome } from '../../../src/machines/task/task-events.ts';
import { initialContext, type TaskInput } from '../../../src/machines/task/task-input.ts';
import { withTurn } from '../../../src/machines/task/told-turns.ts';
import { turnsOf } from '../../../src/machines/task/turns-of.ts';
import { runs } from '../../helpers/runs.ts';
import { begin, finish, type Step, step } from '../../helpers/step-task.ts';
import {
  aCall,
  allowed,
  aTaskInput,
  modelFailed,
  returned,
  said,
  saved,
  toolFailed,
  withheld,
} from '../../helpers/task-fixtures.ts';

const returning: Partial<TaskInput> = { onToolError: 'return' };
const fact = {
  type: 'rule.matched',
  gate: 'tool',
  decision: 'deny',
  tool: 'pay',
  rule: 'unknown tool',
} as const;

/** The call cannot be run as it was asked. */
const ruledOut = (kind: 'misfit' | 'deny', text: string): Ruling => ({
  kind,
  layer: 'alignment',
  text,
  records: [],
  facts: [fact],
  score: null,
});
const misfit = (text: string) => ruledOut('misfit', text);
const denied = ruledOut('deny', 'denied by guardrail: no');

const barred = (error: string): ToolOutcome => ({ ...toolFailed(error), kind: 'barred', error });

const asking = (input: Partial<TaskInput> = returning, calls = [aCall()]): Step =>
  finish(begin(input), 'think', said('', calls));

const running = (from: Step, call = aCall()): Step =>
  step(finish(from, 'govern', allowed(call)), saved());

/** What the model is asked in its turn. */
const asked = ({ effects }: Step): ThinkInput | undefined =>
  effects.flatMap(([kind, port, input]) =>
    kind === 'start' && port === 'think' ? [input as ThinkInput] : [],
  )[0];

const recording = { working: { executing: 'recording' } };

describe('an error of a tool', () => {
  it('ends the run with its text, where that is configured', () => {
    const { snapshot } = finish(running(asking({})), 'runTool', toolFailed('exit code 1'));
    expect(snapshot.value).toBe('failed');
    expect(snapshot.context.failure).toMatchObject({ kind: 'tool', text: 'exit code 1' });
  });

  it('is otherwise sent to the model, once its end is stored', () => {
    const over = finish(running(asking()), 'runTool', toolFailed('exit code 1'));
    expect(over.snapshot.value).toEqual(recording);
    expect(over.effects).toContainEqual([
      'note',
      expect.objectContaining({ type: 'tool.ended', error: 'failed', complaint: 'exit code 1' }),
    ]);
    const next = step(over, saved());
    expect(next.snapshot.value).toEqual({ working: 'thinking' });
    expect(asked(next)?.exchanges).toEqual([
      { call: aCall(), result: 'exit code 1', failed: true },
    ]);
  });

  it.each([
    ['withheld output', withheld('denied by guardrail: secret')],
    ['a call other than the allowed one', barred('not the ones that were approved')],
  ])('does not go to the model: %s ends the run', (_, outcome) => {
    const { snapshot } = finish(running(asking()), 'runTool', outcome);
    expect(snapshot.value).toBe('failed');
    expect(snapshot.context.failure?.text).toBe('error' in outcome ? outcome.error : '');
  });
});

describe('a call that matches no tool', () => {
  it('is denied like any other, where errors end the run', () => {
    const { snapshot } = finish(asking({}), 'govern', misfit('unknown tool: pay'));
    expect(snapshot.value).toBe('failed');
    expect(snapshot.context.failure).toEqual({
      kind: 'denied',
      tool: 'issue_refund',
      layer: 'alignment',
      text: 'unknown tool: pay',
    });
  });

  it('is otherwise reported to the model and never runs; the log names the rule', () => {
    const over = finish(asking(), 'govern', misfit('unknown tool: pay'));
    expect(over.snapshot.value).toEqual(recording);
    expect(over.effects).toEqual([
      ['stop', 'govern'],
      ['note', fact],
    ]);
    expect(asked(step(over, saved()))?.exchanges).toEqual([
      { call: aCall(), result: 'unknown tool: pay', failed: true },
    ]);
  });

  it('ends the run when a rule denies it, with any configuration', () => {
    const { snapshot } = finish(asking(), 'govern', denied);
    expect([snapshot.value, snapshot.context.failure?.text]).toEqual([
      'failed',
      'denied by guardrail: no',
    ]);
  });
});

describe('a model that gets only errors', () => {
  const limits = { ...defaultLimits, failedTurns: 2 };
  const call = (id: string) => aCall({ id });

  it('is stopped after the allowed turns, with the last error', () => {
    let run = asking({ ...returning, limits }, [call('a'), call('b')]);
    for (const id of ['a', 'b']) {
      run = step(finish(running(run, call(id)), 'runTool', toolFailed(`no ${id}`)), saved());
    }
    expect(run.snapshot.value).toEqual({ working: 'thinking' });
    run = finish(run, 'think', said('', [call('c')]));
    run = step(finish(run, 'govern', misfit('unknown tool: c')), saved());
    expect(run.snapshot.context.failure).toEqual({
      kind: 'errorLimit',
      text: 'the run was ended after 2 model turns in a row whose calls all failed, the last one with: unknown tool: c',
    });
    expect(run.effects.at(-1)).toEqual([
      'note',
      { type: 'session.ended', state: 'failed', limit: 'errors' },
    ]);
  });

  it('continues when one call of a turn returned a value', () => {
    let run = asking({ ...returning, limits: { ...limits, failedTurns: 1 } }, [
      call('a'),
      call('b'),
    ]);
    run = step(finish(running(run, call('a')), 'runTool', returned('yes')), saved());
    run = step(finish(running(run, call('b')), 'runTool', toolFailed('no')), saved());
    expect(run.snapshot.value).toEqual({ working: 'thinking' });
  });
});

const outcomes = fc.constantFrom('ok', 'error', 'unknown tool', 'bad arguments');
const turns = fc.array(fc.array(outcomes, { minLength: 1, maxLength: 4 }), { maxLength: 12 });

/** Lets one call come to an end as it is said, or to the end of the run. */
function endCall(from: Step, call: ToolCall, outcome: string): Step {
  if (outcome !== 'ok' && outcome !== 'error') return finish(from, 'govern', misfit(outcome));
  const end = outcome === 'ok' ? returned(call.id) : toolFailed(outcome);
  return finish(running(from, call), 'runTool', end);
}

describe('for any outcomes of the calls of a run', () => {
  it('the model receives exactly one result for each, in order and by turn, and the run ends within its limits', () => {
    const reached = { completed: 0, errorLimit: 0, turnLimit: 0 };
    const limits = fc.record({
      turns: fc.integer({ min: 1, max: 12 }),
      failedTurns: fc.integer({ min: 1, max: 6 }),
    });
    fc.assert(
      fc.property(turns, limits, (story, bounds) => {
        let run = begin({ ...returning, limits: { ...defaultLimits, ...bounds } });
        const expected: [string, string][] = [];
        const sizes: number[] = [];
        let failedInRow = 0;
        for (const [at, turn] of story.entries()) {
          if (run.snapshot.value === 'failed') break;
          const calls = turn.map((_, index) => aCall({ id: `${at}-${index}` }));
          run = finish(run, 'think', said(`turn ${at}`, calls));
          for (const [index, outcome] of turn.entries()) {
            const call = calls[index] as ToolCall;
            run = step(endCall(run, call, outcome), saved());
            expected.push([call.id, outcome === 'ok' ? call.id : outcome]);
          }
          sizes.push(turn.length);
          failedInRow = turn.includes('ok') ? 0 : failedInRow + 1;
          const { exchanges } = run.snapshot.context;
          expect(exchanges.map(({ call, result }) => [call.id, result])).toEqual(expected);
          expect(exchanges.filter(({ failed }) => failed).length).toBe(
            expected.filter(([id, result]) => id !== result).length,
          );
          const told = asked(run);
          if (told !== undefined) {
            const grouped = turnsOf(told.exchanges, told.said);
            expect(grouped.map((one) => one.exchanges.length)).toEqual(sizes);
            expect(grouped.map(({ said: one }) => one?.parts[0])).toEqual(
              sizes.map((_, number) => ({ kind: 'text', text: `turn ${number}` })),
            );
            expect(told.told).toBe(expected.length - turn.length);
          }
          const isOver = failedInRow >= bounds.failedTurns || sizes.length >= bounds.turns;
          expect(run.snapshot.value).toEqual(isOver ? 'failed' : { working: 'thinking' });
          const kind = failedInRow >= bounds.failedTurns ? 'errorLimit' : 'turnLimit';
          if (isOver) {
            expect(run.snapshot.context.failure?.kind).toBe(kind);
            reached[kind] += 1;
          }
        }
        if (run.snapshot.value === 'failed') return;
        run = finish(run, 'think', said('done'));
        expect(run.snapshot.value).toBe('completed');
        reached.completed += 1;
      }),
      { numRuns: runs(300) },
    );
    expect(Object.values(reached).every((count) => count > 10)).toBe(true);
  });
});

describe('the text of a model next to its calls', () => {
  const spoken = (kilobytes: number): Thought => ({
    ...said('', [aCall()]),
    outcome: {
      kind: 'said',
      text: '',
      calls: [aCall()],
      parts: [{ kind: 'thought', text: 'x'.repeat(kilobytes * 1024) }, { kind: 'call' }],
    },
  });

  it('is stored up to one mebibyte a run; the oldest is dropped first, and the last turn is kept whole', () => {
    let turnsSaid = initialContext(aTaskInput()).said;
    for (const size of [400, 400, 400]) {
      turnsSaid = withTurn({ ...initialContext(aTaskInput()), said: turnsSaid }, spoken(size));
    }
    expect(turnsSaid.map(({ parts }) => parts.length)).toEqual([0, 2, 2]);
    expect(
      withTurn({ ...initialContext(aTaskInput()), said: turnsSaid }, spoken(3_000)).at(-1)?.parts,
    ).toHaveLength(2);
  });

  it('is dropped for a failed turn', () => {
    expect(withTurn(initialContext(aTaskInput()), modelFailed('broken')).at(-1)?.parts).toEqual([]);
  });
});
