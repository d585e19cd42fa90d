import type { DecisionAttempt } from '../../src/machines/governance/approvers.ts';
import type { DeferRule } from '../../src/machines/governance/defer-policy.ts';
import type { Ruling, ToolRules } from '../../src/machines/governance/ruling.ts';
import type { Caller, Deferral, ToolCall } from '../../src/machines/task/task.ts';
import type { Thought, ToolOutcome } from '../../src/machines/task/task-events.ts';
import type { TaskInput } from '../../src/machines/task/task-input.ts';

/** The times of one story, in epoch milliseconds. */
export const times = {
  created: 1_000,
  thought: 2_000,
  /** Within the wait of `aDeferral`. */
  decided: 30_000,
  /** The end of the wait of `aDeferral`. */
  expired: 302_000,
  began: 31_000,
  ended: 31_500,
} as const;

export const digest = 'a1'.repeat(32);

export function aCaller(overrides: Partial<Caller> = {}): Caller {
  return { provider: 'ops', userId: 'rita', email: 'rita@example.com', ...overrides };
}

export function aTaskInput(overrides: Partial<TaskInput> = {}): TaskInput {
  return {
    id: 'task-1',
    contextId: 'context-1',
    correlationId: 'correlation-1',
    requester: aCaller(),
    history: [],
    request: { role: 'user', parts: [{ kind: 'text', text: 'refund order 7' }], messageId: 'm-1' },
    settled: null,
    createdAt: times.created,
    ...overrides,
  };
}

export function aCall(overrides: Partial<ToolCall> = {}): ToolCall {
  return {
    id: 'call-1',
    tool: 'issue_refund',
    args: { order: 7 },
    argsSha256: digest,
    ...overrides,
  };
}

export function aDeferRule(overrides: Partial<DeferRule> = {}): DeferRule {
  return {
    to: 'channel:slack:#refunds',
    timeout: 300_000,
    contextTemplate: '',
    approvers: null,
    quorum: 1,
    fourEyes: false,
    bindApprover: false,
    ...overrides,
  };
}

/** The deferral that `aDeferRule` opens for `aCall` at `times.thought`. */
export function aDeferral(overrides: Partial<Deferral> = {}): Deferral {
  return {
    id: 'call-1',
    tool: 'issue_refund',
    args: { order: 7 },
    argsSha256: digest,
    to: 'channel:slack:#refunds',
    timeout: 300_000,
    context: 'tool=issue_refund args={"order":7}',
    approvers: null,
    quorum: 1,
    fourEyes: false,
    bindApprover: false,
    approvals: [],
    requestedAt: times.thought,
    expiresAt: times.expired,
    ...overrides,
  };
}

export function anAttempt(overrides: Partial<DecisionAttempt> = {}): DecisionAttempt {
  return {
    verb: 'approve',
    approver: 'Ann',
    email: null,
    note: '',
    caller: null,
    deferralId: null,
    argsSha256: null,
    at: times.decided,
    ...overrides,
  };
}

export function toolRules(overrides: Partial<ToolRules> = {}): ToolRules {
  return { refusal: null, requiredAcr: null, acrHierarchy: [], defer: null, ...overrides };
}

/** A model turn that asked for tools, or answered when it asked for none. */
export function said(text: string, calls: ToolCall[] = [], at: number = times.thought): Thought {
  return { ...turn(at), outcome: { kind: 'said', text, calls } };
}

/** A model turn that failed. */
export function modelFailed(error: string, at: number = times.thought): Thought {
  return { ...turn(at), inputTokens: 0, outputTokens: 0, outcome: { kind: 'failed', error } };
}

export function returned(result: string, at: number = times.ended): ToolOutcome {
  return { kind: 'returned', result, duration: 500, at };
}

export function toolFailed(error: string, at: number = times.ended): ToolOutcome {
  return { kind: 'failed', error, duration: 500, at };
}

export function allowed(call: ToolCall = aCall()): Ruling {
  return { kind: 'allow', call, records: [] };
}

export function deferred(deferral: Deferral = aDeferral()): Ruling {
  const { id, tool, args, argsSha256, to } = deferral;
  const record = { callId: id, tool, layer: 'defer', decision: 'defer' } as const;
  return {
    kind: 'defer',
    call: { id, tool, args, argsSha256 },
    deferral,
    records: [{ ...record, reason: `awaiting ${to}` }],
  };
}

function turn(at: number): Omit<Thought, 'outcome'> {
  return { provider: 'scripted', model: 'demo', duration: 12, at, inputTokens: 3, outputTokens: 5 };
}
