import { describe, expect, it } from 'vitest';
import type {
  DecisionJson,
  TaskDetailJson,
  TimelineEntryJson,
} from '../../../../../src/http/wire/dashboard/task-detail-json.ts';
import { withRecalled } from '../../../../../src/ui/dashboard/views/chat/recalled-calls.ts';
import {
  newTurn,
  type Part,
  type Turn,
  turnsOf,
} from '../../../../../src/ui/dashboard/views/chat/turn.ts';

const start = Date.parse('2026-11-22T12:00:00.000Z');
const message = (role: string, messageId: string) => ({
  role,
  messageId,
  parts: [{ kind: 'text', text: messageId }],
});
const said = (call_id: string, tool: string, layer: string, decision: string): DecisionJson => ({
  ...{ call_id, tool, layer, decision, reason: layer, duration_ms: 1 },
});
const happened = (
  after: number,
  event: string,
  tool: string,
  fields: Record<string, unknown> = {},
): TimelineEntryJson => ({
  ...{ line: after, seq: after, event, fields: { tool, ...fields } },
  at: new Date(start + after).toISOString(),
});
const ran = (after: number, tool: string) => [
  happened(after, 'tool_exec', tool, { phase: 'start' }),
  happened(after + 5, 'tool_exec', tool, { phase: 'end', duration_ms: 5 }),
];
const decided = (after: number, decision: string) =>
  happened(after, 'task_deferred_decision', 'pay', { decision, approver: 'bob', wait_ms: 10 });

function detailOf(parts: Partial<TaskDetailJson>, asked = 'm-1'): TaskDetailJson {
  return {
    ...{ id: 't-1', context_id: 'c-1', state: 'completed', text: '', title: '', requester: null },
    created_at: new Date(start).toISOString(),
    changed_at: new Date(start + 1_000).toISOString(),
    task: { history: [message('user', asked)] },
    statechart: { machine: 'task', version: 1, value: 'completed', states: [] },
    ...{ decisions: [], deferral: null, timeline: [], ...parts },
  };
}

/** What a turn shows, in words: of a call its tool, whether it runs or ran, and who decided. */
function shown({ parts }: Turn): string[] {
  return parts.map((part: Part) => {
    if (part.kind === 'text') return part.text;
    const { tool, running, recalled } = part;
    if (running) return `${tool} runs`;
    if (recalled === undefined) return `${tool} streamed`;
    const { story, end } = recalled;
    const { approver = 'nobody', decision = 'late' } = end?.fields ?? {};
    const became = end === null ? '' : ` (${String(approver)}: ${String(decision)})`;
    return `${tool} ${story.ran === null ? 'did not run' : 'ran'}${became}`;
  });
}

const turns = turnsOf([
  ...[message('user', 'm-1'), message('agent', 'a-1')],
  ...[message('user', 'm-2'), message('agent', 'a-2')],
]);

describe("the recalled calls of a task outside its session's messages", () => {
  const whole = detailOf({
    decisions: [
      said('1', 'lookup', 'defer', 'allow'),
      said('2', 'pay', 'defer', 'defer'),
      said('3', 'pay', 'defer', 'defer'),
      said('4', 'pay', 'defer', 'defer'),
      said('5', 'drop', 'intent_alignment', 'deny'),
    ],
    timeline: [
      ...ran(10, 'lookup'),
      happened(20, 'task_deferred', 'pay'),
      happened(25, 'task_deferred_decision', 'pay', {
        ...{ decision: 'approve', approver: 'eve', authorized: false },
      }),
      ...[decided(30, 'approve'), ...ran(40, 'pay')],
      ...[happened(50, 'task_deferred', 'pay'), decided(60, 'reject')],
      ...[happened(70, 'task_deferred', 'pay')],
      happened(80, 'task_deferred_timeout', 'pay', { wait_ms: 10 }),
    ],
  });

  it('are shown before its answer, each with its outcome, and in no other turn', () => {
    const [first, second] = withRecalled(turns, 't-1', whole);
    expect(shown(first!)).toEqual([
      'lookup ran',
      'pay ran (bob: approve)',
      'pay did not run (bob: reject)',
      'pay did not run (nobody: late)',
      'drop did not run',
      'a-1',
    ]);
    expect(first).toMatchObject({ task: 't-1', state: 'completed', note: '' });
    expect(second).toEqual(turns[1]);
  });

  it('are shown once, however often the task is sent', () => {
    const once = withRecalled(turns, 't-1', whole);
    expect(withRecalled(once, 't-1', whole)).toEqual(once);
  });

  it('include the failure of a task, which is in no message', () => {
    const failed = detailOf({ state: 'failed', text: 'denied by rule' }, 'm-2');
    expect(withRecalled(turns, 't-2', failed)[1]).toMatchObject({
      ...{ task: 't-2', state: 'failed', note: 'denied by rule' },
    });
  });

  it('are not shown for a task of another person, nor for a running one without a subscriber', () => {
    expect(withRecalled(turns, 't-9', detailOf({}, 'm-9'))).toEqual(turns);
    expect(withRecalled(turns, 't-1', { ...whole, state: 'working' })).toEqual(turns);
    for (const task of [null, 'x', { history: 7 }, { history: [null, {}] }]) {
      expect(withRecalled(turns, 't-1', { ...whole, task })).toEqual(turns);
    }
  });

  it('are shown before the stream of a running task, without its own calls', () => {
    const working = detailOf({
      state: 'working',
      decisions: [
        said('1', 'lookup', 'defer', 'allow'),
        said('2', 'lookup', 'defer', 'allow'),
        said('3', 'pay', 'defer', 'defer'),
      ],
      timeline: [
        ...[...ran(10, 'lookup'), ...ran(20, 'lookup')],
        happened(30, 'task_deferred', 'pay'),
      ],
    });
    const joined: Turn = { ...newTurn('m-1'), task: 't-1', state: 'working' };
    expect(shown(withRecalled([joined], 't-1', working)[0]!)).toEqual(['lookup ran', 'lookup ran']);
    const streamed: Turn = { ...joined, parts: [{ kind: 'tool', tool: 'lookup', running: false }] };
    const both = withRecalled([streamed], 't-1', working)[0]!;
    expect(shown(both)).toEqual(['lookup ran', 'lookup streamed']);
    expect(both.state).toBe('working');
    const runs = { ...working, timeline: working.timeline.slice(0, 3) };
    expect(shown(withRecalled([joined], 't-1', runs)[0]!)).toEqual(['lookup ran', 'lookup runs']);
  });
});
