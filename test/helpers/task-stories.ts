import type { DeferralJson } from '../../src/http/wire/dashboard/held-call-json.ts';
import type {
  DecisionJson,
  StateVisitJson,
  TaskDetailJson,
  TimelineEntryJson,
} from '../../src/http/wire/dashboard/task-detail-json.ts';
import type { TaskRowJson } from '../../src/http/wire/dashboard/task-row-json.ts';
import { taskMachineVersion } from '../../src/machines/task/snapshot-steps.ts';

const title = 'Please refund order A-1042, it arrived broken';
const target = 'channel:slack:#finance-leads';
const look = 'lookup_order';
const refund = 'issue_refund';

type Step = [state: string, event: string, seconds: number];
type Said = [layer: string, decision: string, milliseconds: number, reason?: string];
type Happened = [seconds: number, event: string, fields?: Record<string, unknown>];

const looked: Step[] = [
  ['submitted', 'task.send', 0],
  ['working.thinking', 'prompt.screened', 0.002],
  ['working.governing', 'thinking.done', 1.302],
  ['working.executing.calling.starting', 'governing.done', 1.331],
  ['working.executing.calling.running', 'task.saved', 1.333],
  ['working.executing.recording', 'running.done', 1.507],
  ['working.thinking', 'task.saved', 1.511],
  ['working.governing', 'thinking.done', 2.312],
];
const held: Step[] = [...looked, ['deferred.asked', 'governing.done', 2.343]];

const capped = [{ path: 'amount', before: '899', after: '89.9' }];

const admitted: Said[] = [
  ['intent_alignment', 'allow', 28.2, 'fits what was asked for'],
  ['step_up', 'allow', 0.1, 'no assurance level is required'],
  ['modify', 'allow', 0.1, 'no rule rewrites it'],
  ['defer', 'allow', 0.1, 'no approval is required'],
  ['output', 'allow', 0.4, 'no rule changes it'],
];
const deferred: Said[] = [
  ['intent_alignment', 'allow', 28.4, 'fits what was asked for'],
  ['step_up', 'allow', 0.1, 'acr is sufficient'],
  ['modify', 'modify', 0.8, 'rewritten by rule 2'],
  ['defer', 'defer', 0.2, `awaiting ${target}`],
];

const beforeRefund: Happened[] = [
  [0, 'session_start'],
  [
    1.3,
    'llm_call',
    {
      provider: 'scripted',
      model: 'demo',
      duration_ms: 1_300,
      input_tokens: 812,
      output_tokens: 64,
    },
  ],
  [1.331, 'tool_exec', { tool: look, phase: 'start', args_size: 18 }],
  [
    1.507,
    'tool_exec',
    { tool: look, phase: 'end', duration_ms: 174, args_size: 18, result_size: 220 },
  ],
  [
    2.311,
    'llm_call',
    {
      provider: 'scripted',
      model: 'demo',
      duration_ms: 800,
      input_tokens: 1_034,
      output_tokens: 71,
    },
  ],
];
const asked: Happened[] = [
  ...beforeRefund,
  [2.34, 'tool_call_modified', { tool: refund, part: 'arguments', rules: [2] }],
  [
    2.342,
    'task_deferred',
    {
      tool: refund,
      to: target,
      timeout_ms: 300_000,
      approvers: ['carol@example.com', 'dan@example.com'],
    },
  ],
];

/** Tasks of every kind, which began `ago` milliseconds before `now`, as the dashboard tells of them. */
export function taskStories(now: number, ago = 195_000): TaskDetailJson[] {
  const at = (seconds: number): string => new Date(now - ago + seconds * 1_000).toISOString();
  const deferral: DeferralJson = {
    agent_id: 'refunds',
    id: 'd-1',
    deferral_id: 'd-1',
    task_id: 'refund-1',
    tool: refund,
    to: target,
    timeout: '5m0s',
    context: 'Refund 89.90 for order A-1042',
    args: { order: 'A-1042', amount: 89.9 },
    modified: 'rewritten by rule 2',
    changes: [{ path: 'amount', before: '899', after: '89.9' }],
    args_sha256: 'b49d5c8e'.repeat(8),
    requester: { user_id: 'ann', email: 'ann@example.com', provider: 'oidc' },
    requested_at: at(2.343),
    expires_at: at(302.343),
    approvers: ['carol@example.com', 'dan@example.com'],
    quorum: 2,
    approvals: [{ approver: 'carol@example.com', at: at(70) }],
    title,
  };

  function story(
    row: Pick<TaskRowJson, 'id' | 'state'> & Partial<TaskRowJson>,
    steps: Step[],
    calls: [tool: string, said: Said[]][],
    happened: Happened[],
    waits: DeferralJson | null = null,
  ): TaskDetailJson {
    const states = steps.map(
      ([state, event, seconds]): StateVisitJson => ({ state, event, entered_at: at(seconds) }),
    );
    const last = states.at(-1);
    const decisions = calls.flatMap(([tool, said], call) =>
      said.map(
        ([layer, decision, duration_ms, reason = '']): DecisionJson => ({
          call_id: `${row.id}-${call}`,
          tool,
          layer,
          decision,
          reason,
          duration_ms,
          ...(decision === 'modify' ? { changes: capped } : {}),
        }),
      ),
    );
    const timeline = happened.map(
      ([seconds, event, fields = {}], index): TimelineEntryJson => ({
        line: index + 1,
        seq: index + 1,
        at: at(seconds),
        event,
        fields,
      }),
    );
    const head: TaskRowJson = {
      context_id: 'c-1',
      text: '',
      title,
      requester: 'ann@example.com',
      created_at: at(0),
      changed_at: last?.entered_at ?? at(0),
      ...row,
    };
    return {
      ...head,
      task: {
        id: row.id,
        kind: 'task',
        status: { state: row.state },
        metadata: { states, decisions },
      },
      statechart: {
        machine: 'task',
        version: taskMachineVersion,
        value: last?.state ?? '',
        states,
      },
      decisions,
      deferral: waits,
      timeline,
    };
  }

  return [
    story(
      { id: 'refund-1', state: 'deferred', tool: refund },
      held,
      [
        [look, admitted],
        [refund, deferred],
      ],
      [
        ...asked,
        [
          70,
          'task_deferred_decision',
          {
            tool: refund,
            decision: 'approve',
            approver: 'carol@example.com',
            note: '',
            wait_ms: 67_657,
            source: 'slack',
          },
        ],
      ],
      deferral,
    ),
    story(
      { id: 'refund-2', state: 'completed', text: 'Refunded 89.90 for order A-1042.' },
      [
        ...held,
        ['deferred.reminded', 'deadline.reached', 152],
        ['working.executing.minting', 'deferral.decide', 170],
        ['working.executing.calling.starting', 'minting.done', 170.08],
        ['working.executing.calling.running', 'task.saved', 170.082],
        ['working.executing.recording', 'running.done', 170.392],
        ['working.thinking', 'task.saved', 170.396],
        ['completed', 'thinking.done', 171.886],
      ],
      [
        [look, admitted],
        [
          refund,
          [...deferred, ['credentials', 'allow', 80, 'issued by vault'], ['output', 'allow', 0.3]],
        ],
      ],
      [
        ...asked,
        [152, 'task_deferred_reminder', { tool: refund, to: target, wait_ms: 149_657 }],
        [
          170,
          'task_deferred_decision',
          {
            tool: refund,
            decision: 'approve',
            approver: 'dan@example.com',
            note: 'checked with the customer',
            wait_ms: 167_657,
            source: 'slack',
          },
        ],
        [170.08, 'credential_issued', { tool: refund, provider: 'vault', ttl: 300 }],
        [170.08, 'tool_exec', { tool: refund, phase: 'start', args_size: 40 }],
        [
          170.392,
          'tool_exec',
          { tool: refund, phase: 'end', duration_ms: 310, args_size: 40, result_size: 88 },
        ],
        [
          171.886,
          'llm_call',
          {
            provider: 'scripted',
            model: 'demo',
            duration_ms: 1_490,
            input_tokens: 1_204,
            output_tokens: 90,
          },
        ],
        [171.886, 'session_end', { state: 'completed' }],
      ],
    ),
    story(
      { id: 'refund-3', state: 'failed', text: `approval of ${refund} timed out after 5m0s` },
      [
        ...held,
        ['deferred.escalated', 'deadline.reached', 152],
        ['failed', 'deadline.reached', 190],
      ],
      [
        [look, admitted],
        [refund, deferred],
      ],
      [
        ...asked,
        [
          152,
          'task_deferred_escalated',
          { tool: refund, to: 'channel:slack:#finance-heads', wait_ms: 149_657 },
        ],
        [190, 'task_deferred_timeout', { tool: refund, timeout_ms: 187_657, wait_ms: 187_657 }],
        [190, 'session_end', { state: 'failed' }],
      ],
    ),
    story(
      {
        id: 'refund-4',
        state: 'failed',
        requester: null,
        text: 'denied by guardrail: refunds above 1,000 are never automatic',
      },
      [...looked.slice(0, 3), ['failed', 'governing.done', 1.306]],
      [
        [
          refund,
          [
            [
              'intent_alignment',
              'deny',
              3.1,
              'denied by guardrail: refunds above 1,000 are never automatic',
            ],
          ],
        ],
      ],
      [
        ...beforeRefund.slice(0, 2),
        [
          1.305,
          'guardrail_check',
          { gate: 'deny_commands', decision: 'deny', tool: refund, rule: '"amount":[0-9]{4,}' },
        ],
        [1.306, 'session_end', { state: 'failed' }],
      ],
    ),
  ];
}
