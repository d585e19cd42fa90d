import type { Refusal } from '../../src/machines/domain/finding.ts';
import type {
  CallEdit,
  Caller,
  Deferral,
  FollowUp,
  Message,
  SettledDeferral,
  ToolCall,
} from '../../src/machines/domain/task.ts';
import type { DecisionAttempt } from '../../src/machines/governance/approvers.ts';
import type { ProposedEdit } from '../../src/machines/governance/decision.ts';
import type { DeferRule } from '../../src/machines/governance/defer-policy.ts';
import type { Ruling, ToolRules } from '../../src/machines/governance/ruling.ts';
import { defaultLimits } from '../../src/machines/task/limits.ts';
import type {
  AcceptedCalls,
  MintOutcome,
  StartStanding,
  TaskEvent,
  Thought,
  ToolOutcome,
} from '../../src/machines/task/task-events.ts';
import {
  initialContext,
  type TaskContext,
  type TaskInput,
} from '../../src/machines/task/task-input.ts';

/** The times of one story, in epoch milliseconds. */
export const times = {
  created: 1_000,
  thought: 2_000,
  /** Within the wait of `aDeferral`. */
  decided: 30_000,
  /** Half of the wait of `aDeferral`, and three quarters of it. */
  reminded: 152_000,
  escalated: 227_000,
  /** The end of the wait of `aDeferral`. */
  expired: 302_000,
  began: 31_000,
  ended: 31_500,
} as const;

/** Digest of the arguments of `anEdit`. */
export const editedDigest = 'c3'.repeat(32);

export const digest = 'a1'.repeat(32);

/** What would run, in every story. */
export const runsDigest = 'b2'.repeat(32);

export function aCaller(overrides: Partial<Caller> = {}): Caller {
  return { provider: 'ops', userId: 'rita', email: 'rita@example.com', ...overrides };
}

export function aTaskInput(overrides: Partial<TaskInput> = {}): TaskInput {
  return {
    id: 'task-1',
    contextId: 'context-1',
    correlationId: 'correlation-1',
    tags: {},
    trace: null,
    surface: 'legacy',
    requester: aCaller(),
    session: [],
    history: [],
    leftOut: 0,
    ran: [],
    request: { role: 'user', parts: [{ kind: 'text', text: 'refund order 7' }], messageId: 'm-1' },
    hasModel: true,
    limits: defaultLimits,
    onToolError: 'fail',
    settled: null,
    createdAt: times.created,
    ...overrides,
  };
}

/** What `aTaskInput` knows before anything has happened. */
export function aTaskContext(overrides: Partial<TaskContext> = {}): TaskContext {
  return { ...initialContext(aTaskInput()), ...overrides };
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

/** A message that arrived while `aCall` waited. */
export function aFollowUp(text = 'any news?', overrides: Partial<FollowUp> = {}): FollowUp {
  const message: Message = { role: 'user', parts: [{ kind: 'text', text }], messageId: text };
  return { message, after: 1, sender: null, ...overrides };
}

export function aDeferRule(overrides: Partial<DeferRule> = {}): DeferRule {
  return {
    to: ['channel:slack:#refunds'],
    timeout: 300_000,
    contextTemplate: '',
    approvers: null,
    quorum: 1,
    bindApprover: false,
    distinctCallers: false,
    onReject: 'fail',
    remind: false,
    escalateTo: null,
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
    targets: [overrides.to ?? 'channel:slack:#refunds'],
    timeout: 300_000,
    context: 'tool=issue_refund args={"order":7}',
    shown: { order: 7 },
    approvers: null,
    quorum: 1,
    bindApprover: false,
    distinctCallers: false,
    onReject: 'fail',
    approvals: [],
    requestedAt: times.thought,
    remindAt: null,
    escalateAt: null,
    escalateTo: null,
    expiresAt: times.expired,
    ...overrides,
  };
}

/** A change of `aCall` by its approver. */
export function anEdit(overrides: Partial<CallEdit> = {}): CallEdit {
  return {
    approver: 'Ann',
    at: times.decided,
    deferralId: 'call-1',
    before: { argsSha256: digest },
    after: { argsSha256: editedDigest },
    changes: [
      { path: 'order', before: '7', after: '8' },
      { path: 'note', after: '"x"' },
    ],
    ...overrides,
  };
}

/** The arguments of `anEdit`, as a decision proposes them. */
export function aProposedEdit(overrides: Partial<ProposedEdit> = {}): ProposedEdit {
  const { after, changes } = anEdit();
  return {
    args: { order: 8, note: 'x' },
    ...after,
    changes,
    fault: null,
    before: { rule: aDeferRule({ isEditable: true }), name: null },
    heldAs: 'call-2',
    ...overrides,
  };
}

/** The approval of `aDeferral`. */
export function aSettledDeferral(overrides: Partial<SettledDeferral> = {}): SettledDeferral {
  return {
    id: 'call-1',
    tool: 'issue_refund',
    argsSha256: digest,
    decision: 'approve',
    approver: 'Ann',
    note: '',
    decidedAt: times.decided,
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
  return {
    refusal: null,
    judgesIntent: false,
    drift: null,
    requiredAcr: null,
    acrHierarchy: [],
    defer: null,
    credential: null,
    modifies: true,
    ...overrides,
  };
}

/** A model turn that asked for tools, or answered when it asked for none. */
export function said(text: string, calls: ToolCall[] = [], at: number = times.thought): Thought {
  return { ...turn(at), outcome: { kind: 'said', text, calls } };
}

/** The calls that a run began with, accepted. */
export function accepted(calls: ToolCall[] = [aCall()]): AcceptedCalls {
  return { calls, duration: 7, at: times.thought };
}

/** A model turn that failed. */
export function modelFailed(error: string, at: number = times.thought): Thought {
  return { ...turn(at), inputTokens: 0, outputTokens: 0, outcome: { kind: 'failed', error } };
}

export function returned(result: string, at: number = times.ended): ToolOutcome {
  return { kind: 'returned', result, ...ending(at) };
}

export function toolFailed(error: string, at: number = times.ended): ToolOutcome {
  return { kind: 'failed', error, ...ending(at) };
}

/** Output that the rules blocked. */
export function withheld(error: string, at: number = times.ended): ToolOutcome {
  const findings = [{ gate: 'deny_output', decision: 'block', rule: 'deny_output[0]' } as const];
  return { kind: 'withheld', error, ...ending(at), findings };
}

/** Credentials that were made, or could not be when there is an error. */
export function minted(error: string | null = null): MintOutcome {
  const end = { provider: 'static', duration: 3, at: times.began } as const;
  return error === null ? { ...end, kind: 'issued', ttl: null } : { ...end, kind: 'failed', error };
}

/** The reason of a denied call, by a rule of the guardrails. */
export function aRefusal(text = 'denied by guardrail: refunds'): Refusal {
  return {
    text,
    findings: [{ gate: 'deny_commands', decision: 'deny', rule: 'deny_commands[0]' }],
  };
}

export function allowed(call: ToolCall = aCall()): Ruling {
  return { kind: 'allow', call, credential: null, records: [], facts: [], score: null };
}

export function deferred(deferral: Deferral = aDeferral()): Ruling {
  const { id, tool, args, argsSha256, to } = deferral;
  const record = { callId: id, tool, layer: 'defer', decision: 'defer' } as const;
  return {
    kind: 'defer',
    call: { id, tool, args, argsSha256 },
    deferral,
    credential: null,
    records: [{ ...record, reason: `awaiting ${to}`, duration: 0 }],
    facts: [{ type: 'deferral.opened', deferral, requester: null }],
    score: null,
  };
}

function ending(at: number) {
  return { duration: 500, at, checking: 0.5, findings: [], rewrites: [] };
}

function turn(at: number): Omit<Thought, 'outcome'> {
  return { provider: 'scripted', model: 'demo', duration: 12, at, inputTokens: 3, outputTokens: 5 };
}

/** Everything that was reported is on disk. */
export function saved(standing: StartStanding = 'first', at: number = times.began): TaskEvent {
  return { type: 'task.saved', standing, at };
}
