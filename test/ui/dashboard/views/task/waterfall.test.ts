import { describe, expect, it } from 'vitest';
import type {
  DecisionJson,
  TimelineEntryJson,
} from '../../../../../src/http/wire/dashboard/task-detail-json.ts';
import { callStories } from '../../../../../src/ui/dashboard/views/task/waterfall.ts';

const start = Date.parse('2026-11-22T12:00:00.000Z');
const now = start + 193_000;

const said = (
  layer: string,
  decision: string,
  duration_ms: number,
  call_id = 'c1',
): DecisionJson => ({
  call_id,
  tool: 'issue_refund',
  layer,
  decision,
  reason: `${layer} says ${decision}`,
  duration_ms,
});

const happened = (
  after: number,
  event: string,
  fields: Record<string, unknown> = {},
): TimelineEntryJson => ({
  line: after,
  seq: after,
  at: new Date(start + after).toISOString(),
  event,
  fields: { tool: 'issue_refund', ...fields },
});

const held = [
  said('intent_alignment', 'allow', 28),
  said('step_up', 'allow', 1),
  said('modify', 'modify', 3),
  said('defer', 'defer', 0),
];

function only(decisions: DecisionJson[], timeline: TimelineEntryJson[], isOver = false) {
  const [story] = callStories(decisions, timeline, now, isOver);
  if (story === undefined) throw new Error('no call');
  return story;
}

const verdictsOf = (...parameters: Parameters<typeof only>) =>
  only(...parameters).rows.map(({ name, verdict }) => `${name}: ${verdict}`);

describe('callStories', () => {
  it.each([
    [[], 'Run: not asked', ''],
    [[happened(9_000, 'hold_released')], 'Run: running', 'not reported yet'],
    [
      [happened(9_000, 'hold_released'), happened(12_000, 'hold_outcome', { status: 'succeeded' })],
      ...['Run: ran', ''],
    ],
    [
      [happened(9_000, 'hold_released'), happened(12_000, 'hold_outcome', { status: 'not_run' })],
      ...['Run: failed', 'its program did not run it'],
    ],
    [
      [happened(9_000, 'hold_released'), happened(12_000, 'hold_unaccounted')],
      ...['Run: failed', 'its program reported no outcome'],
    ],
  ] as [TimelineEntryJson[], string, string][])(
    'reads the run of a hold from the reports of its program: %#',
    (reports, verdict, reason) => {
      const released = [happened(100, 'task_deferred'), happened(8_000, 'session_end'), ...reports];
      const run = only(held, released, true).rows.find(({ name }) => name === 'Run');
      expect([`Run: ${run?.verdict}`, run?.reason]).toEqual([verdict, reason]);
    },
  );

  it('lists the layers in their order', () => {
    const allowed = [
      said('output', 'allow', 1),
      said('defer', 'allow', 0),
      said('credentials', 'allow', 4),
      ...held.slice(0, 3),
    ];
    const ran = [
      happened(40, 'tool_exec', { phase: 'start' }),
      happened(214, 'tool_exec', { phase: 'end', duration_ms: 174 }),
    ];
    expect(only(allowed, ran, true).rows).toEqual([
      row('Intent', 'allow', 'intent_alignment', 28, 0, (28 / 37) * 40),
      row('Assurance', 'allow', 'step_up', 1, (28 / 37) * 40, (1 / 37) * 40),
      row('Modify', 'modify', 'modify', 3, (29 / 37) * 40, (3 / 37) * 40),
      row('Approval', 'allow', 'defer', 0, (32 / 37) * 40, 0),
      row('Credentials', 'allow', 'credentials', 4, (32 / 37) * 40, (4 / 37) * 40),
      { ...row('Run', 'ran', '', 174, (36 / 37) * 40, 60), reason: '' },
      row('Output', 'allow', 'output', 1, (36 / 37) * 40 + 60, (1 / 37) * 40),
    ]);
  });

  it('counts a wait until now, and shows later layers as pending', () => {
    const waiting = only(held, [happened(32, 'task_deferred')]);
    expect(waiting).toMatchObject({ tool: 'issue_refund', ruled: 32, waited: 192_968, ran: null });
    expect(waiting.rows.slice(3)).toEqual([
      { ...row('Approval', 'hold', 'defer', 192_968, 40, 60), isWait: true },
      { name: 'Run', verdict: 'not yet', reason: '', took: null, bar: null, isWait: false },
    ]);
  });

  it('greys the layers after a denial', () => {
    expect(verdictsOf([said('intent_alignment', 'deny', 1)], [], true)).toEqual([
      'Intent: deny',
      'Assurance: not asked',
      'Modify: not asked',
      'Approval: not asked',
      'Run: not asked',
    ]);
    expect(verdictsOf([held[0] ?? said('', '', 0), said('step_up', 'step_up', 1)], [])).toEqual([
      'Intent: allow',
      'Assurance: step up',
      'Modify: not asked',
      'Approval: not asked',
      'Run: not asked',
    ]);
  });

  it.each([
    ['task_deferred_decision', { decision: 'reject', wait_ms: 500 }],
    ['task_deferred_timeout', { wait_ms: 500 }],
    ['task_deferred_abandoned', { wait_ms: 500 }],
  ])('ends a wait with %s, and nothing runs', (event, fields) => {
    const story = only(held, [happened(0, 'task_deferred'), happened(500, event, fields)]);
    expect(story).toMatchObject({ waited: 500, ran: null });
    expect(story.rows.at(-1)?.verdict).toBe('not asked');
  });

  it('continues waiting after a decision without the right, and after the first of two', () => {
    const story = only(held, [
      happened(0, 'task_deferred'),
      happened(10, 'task_deferred_decision', {
        decision: 'reject',
        authorized: false,
        wait_ms: 10,
      }),
      happened(20, 'task_deferred_decision', { decision: 'approve', wait_ms: 20 }),
    ]);
    expect(story).toMatchObject({ waited: 193_000, ran: null });
  });

  it('shows a run after its release, and its failure', () => {
    const story = only(held, [
      happened(0, 'task_deferred'),
      happened(900, 'task_deferred_decision', { decision: 'approve', wait_ms: 900 }),
      happened(910, 'tool_exec', { phase: 'start' }),
      happened(950, 'tool_exec', { phase: 'end', duration_ms: 40, error: 'exit code 1' }),
    ]);
    expect(story).toMatchObject({ ruled: 32, waited: 910, ran: 40 });
    expect(story.rows.at(-1)).toMatchObject({
      name: 'Run',
      verdict: 'failed',
      reason: 'exit code 1',
    });
  });

  it('gives each call of one tool its own run', () => {
    const two = [
      said('defer', 'allow', 1),
      said('intent_alignment', 'deny', 1, 'c2'),
      said('defer', 'allow', 1, 'c3'),
    ];
    const stories = callStories(
      two,
      [
        happened(0, 'tool_exec', { phase: 'start' }),
        happened(5, 'tool_exec', { phase: 'end', duration_ms: 5 }),
        happened(9, 'tool_exec', { phase: 'start' }),
        happened(9, 'tool_exec', { phase: 'start', tool: 'another' }),
      ],
      start + 20,
      false,
    );
    expect(stories.map(({ id, ran }) => [id, ran])).toEqual([
      ['c1', 5],
      ['c2', null],
      ['c3', 11],
    ]);
  });

  it('omits messages outside a call', () => {
    const { call_id: _, tool: __, ...ofMessage } = said('prompt', 'deny', 1);
    expect(callStories([ofMessage], [], now, true)).toEqual([]);
  });
});

function row(
  name: string,
  verdict: string,
  layer: string,
  took: number,
  from: number,
  width: number,
) {
  const reason = `${layer} says ${verdict === 'hold' ? 'defer' : verdict}`;
  const near = (value: number) => expect.closeTo(value, 6) as number;
  return {
    name,
    verdict,
    reason,
    took,
    bar: { from: near(from), width: near(width) },
    isWait: false,
  };
}
