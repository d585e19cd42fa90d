import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskDetailJson } from '../../../../../src/http/wire/dashboard/task-detail-json.ts';
import type { DrawnChart } from '../../../../../src/ui/dashboard/chart/drawn-chart.ts';
import { walk } from '../../../../../src/ui/dashboard/chart/walk.ts';
import { stepIn, withStep } from '../../../../../src/ui/dashboard/views/task/step-address.ts';
import { taskAt } from '../../../../../src/ui/dashboard/views/task/task-at.ts';
import { taskStories } from '../../../../helpers/task-stories.ts';

const file = `${import.meta.dirname}/../../../../../src/ui/dashboard/chart/task-chart.json`;
const chart = JSON.parse(readFileSync(file, 'utf8')) as DrawnChart;
const start = Date.parse('2026-11-22T12:00:00.000Z');
const stories = taskStories(start);
const iso = (milliseconds: number): string => new Date(start + milliseconds).toISOString();
/** How far apart the clocks of the log and of the states may be. */
const tolerance = 1_000;

function story(id: string, parts: Partial<TaskDetailJson> = {}): TaskDetailJson {
  const found = stories.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no story ${id}`);
  return { ...found, ...parts };
}

const time = fc.integer({ min: 0, max: 600_000 });
const paths = chart.states.map(({ id }) => id);
const message = fc.record({
  role: fc.constantFrom('user', 'agent'),
  parts: fc.array(fc.record({ kind: fc.constant('text'), text: fc.string() }), { maxLength: 2 }),
});
const entry = fc.record({
  at: time,
  event: fc.constantFrom(
    ...['session_start', 'session_end', 'llm_call', 'tool_exec', 'message_received'],
    ...['task_deferred', 'task_deferred_decision', 'egress_allowed', 'unheard_of'],
  ),
  fields: fc.dictionary(
    fc.constantFrom('tool', 'phase', 'state', 'decision', 'messages', 'args', 'timeout_ms'),
    fc.oneof(
      fc.constantFrom('start', 'end', 'pay', 'completed', 'approve', '[{"role":"agent"}]'),
      fc.jsonValue(),
    ),
  ),
});
/** What an agent could tell, however little sense it makes. */
const anyTask: fc.Arbitrary<TaskDetailJson> = fc
  .record({
    states: fc.array(fc.tuple(time, fc.constantFrom(...paths)), { maxLength: 12 }),
    timeline: fc.array(entry, { maxLength: 12 }),
    history: fc.array(message, { maxLength: 6 }),
    decisions: fc.array(
      fc.record({
        call_id: fc.constantFrom('c1', 'c2', 'c3'),
        layer: fc.constantFrom('intent_alignment', 'defer', 'credentials', 'output'),
      }),
      { maxLength: 8 },
    ),
  })
  .map(({ states, timeline, history, decisions }) => ({
    ...story('refund-1'),
    task: { history },
    statechart: {
      machine: 'task',
      version: chart.version,
      value: states.at(-1)?.[1] ?? 'submitted',
      states: states
        .toSorted(([one], [other]) => one - other)
        .map(([at, state]) => ({ state, event: '', entered_at: iso(at) })),
    },
    decisions: decisions.map((said) => ({
      ...{ tool: 'pay', decision: 'allow', reason: '', duration_ms: 1 },
      ...said,
    })),
    timeline: timeline
      .toSorted((one, other) => one.at - other.at)
      .map(({ at, event, fields }, index) => ({
        line: index + 1,
        seq: index + 1,
        at: iso(at),
        event,
        fields,
      })),
  }));

describe('taskAt', () => {
  it('is the current task at the last step', () => {
    fc.assert(
      fc.property(anyTask, (task) => {
        const { stops, until, decisions, timeline, transcript } = taskAt(chart, task, Infinity);
        expect({ stops, until, decisions, timeline }).toEqual({
          stops: walk(chart, task.statechart.states),
          until: null,
          decisions: task.decisions,
          timeline: task.timeline,
        });
        const { history } = task.task as { history: { role: string }[] };
        expect(transcript.flatMap((said) => (said.kind === 'message' ? [said.role] : []))).toEqual(
          history.map(({ role }) => role),
        );
      }),
    );
  });

  it('adds to the earlier content with each step, and shows nothing later', () => {
    fc.assert(
      fc.property(anyTask, (task) => {
        const { last } = taskAt(chart, task, 0);
        for (let step = 0; step < last; step += 1) {
          const here = taskAt(chart, task, step);
          const next = taskAt(chart, task, step + 1);
          for (const part of ['decisions', 'timeline', 'transcript'] as const) {
            const known: unknown[] = next[part];
            // A decision may have been known before one that the agent tells of first.
            expect(known).toEqual(expect.arrayContaining<unknown>(here[part]));
          }
          expect(next.stops.slice(0, step)).toEqual(here.stops.slice(0, step));
          const left = here.until ?? Infinity;
          for (const { at } of here.timeline)
            expect(Date.parse(at)).toBeLessThanOrEqual(left + tolerance);
          for (const { at } of here.transcript) {
            if (at !== null) expect(Date.parse(at)).toBeLessThanOrEqual(left + tolerance);
          }
        }
      }),
    );
  });

  it('shows at each step of a refund its messages, rulings and waits', () => {
    const task = story('refund-2', {
      task: {
        history: [
          { role: 'user', parts: [{ kind: 'text', text: 'Refund it' }] },
          { role: 'agent', parts: [{ kind: 'text', text: 'Refunded' }] },
        ],
      },
    });
    const { last } = taskAt(chart, task, 0);
    const told = Array.from({ length: last + 1 }, (_, step) => {
      const { stops, transcript, decisions, held } = taskAt(chart, task, step);
      return [
        stops.at(-1)?.box.name,
        transcript.map(({ kind }) => kind).join(' '),
        decisions.length,
        held === null ? null : `${held.tool} ${held.approvedBy.join(' ')}`.trim(),
      ];
    });
    const lookedUp = 'message turn call result';
    const asked = `${lookedUp} turn`;
    expect(told).toEqual([
      ['submitted', 'message', 0, null],
      ['thinking', 'message', 0, null],
      ['governing', 'message turn', 0, null],
      ['running', 'message turn call', 4, null],
      ['recording', lookedUp, 5, null],
      ['thinking', lookedUp, 5, null],
      ['governing', asked, 5, null],
      ['asked', asked, 9, 'issue_refund'],
      ['reminded', asked, 9, 'issue_refund'],
      ['credentials', asked, 9, 'issue_refund dan@example.com'],
      ['running', `${asked} call`, 10, null],
      ['recording', `${asked} call result`, 11, null],
      ['thinking', `${asked} call result`, 11, null],
      ['completed', `${asked} call result turn message`, 11, null],
    ]);
  });
});

describe('the step in the address', () => {
  it.each([
    ['', null],
    ['step=1', 0],
    ['step=7', 6],
    ['step=0', null],
    ['step=-1', null],
    ['step=1e3', null],
    ['step=99999999999', null],
  ])('reads %s as %s', (query, step) => {
    expect(stepIn(new URLSearchParams(query))).toBe(step);
  });

  it('is added to the rest of the address', () => {
    expect(withStep('#/tasks/a/t?view=chart', 6)).toBe('#/tasks/a/t?view=chart&step=7');
    expect(withStep('#/tasks/a/t?view=chart&step=7', 2)).toBe('#/tasks/a/t?view=chart&step=3');
    expect(withStep('#/tasks/a/t?step=7', null)).toBe('#/tasks/a/t');
  });
});
