import { describe, expect, it } from 'vitest';
import { auditEventOf } from '../../../../src/actors/records/log/audit.ts';
import type { TaskFact } from '../../../../src/machines/domain/facts.ts';
import type { Deferral } from '../../../../src/machines/domain/task.ts';

const call = { callId: 'c-1', deferralId: 'c-1', argsSha256: 'ab12', runsSha256: 'cd34' };
const policySha256 = 'ef56';
const callFields = {
  call_id: 'c-1',
  deferral_id: 'c-1',
  args_sha256: 'ab12',
  runs_sha256: 'cd34',
  policy_sha256: 'ef56',
};

const envelope = {
  ts: '2026-07-01T09:00:00.000Z',
  seq: 3,
  correlation_id: 'c-1',
  task_id: 't-1',
  org_id: '',
};

const deferral: Deferral = {
  id: 'c-1',
  tool: 'issue_refund',
  args: { amount: 10 },
  argsSha256: 'ab12',
  runsSha256: 'cd34',
  to: 'channel:slack:#refunds',
  timeout: 300_000,
  context: 'tool=issue_refund args={"amount":10}',
  approvers: null,
  quorum: 1,
  fourEyes: false,
  bindApprover: false,
  distinctCallers: false,
  onReject: 'fail',
  approvals: [],
  remindAt: null,
  escalateAt: null,
  escalateTo: null,
  requestedAt: 1,
  expiresAt: 300_001,
};

const opened = (change: Partial<Deferral>): TaskFact => ({
  type: 'deferral.opened',
  deferral: { ...deferral, ...change },
  requester: null,
});

const deferred = {
  ...callFields,
  tool: 'issue_refund',
  to: 'channel:slack:#refunds',
  timeout_ms: 300_000,
  context: 'tool=issue_refund args={"amount":10}',
};

const decided = {
  type: 'deferral.decided',
  call,
  tool: 'issue_refund',
  decision: 'reject',
  approver: 'ann@example.com',
  note: 'too much',
  wait: 1234.4,
  vouchedBy: 'asserted',
  method: 'none',
  caller: null,
} as const;

const called = {
  type: 'model.called',
  provider: 'scripted',
  model: 'demo',
  duration: 12.6,
  inputTokens: 5,
  outputTokens: 7,
  heard: { request: null, exchanges: [], followUps: [] },
  said: { text: 'with the till code 1234', calls: [] },
} as const;

const ran = {
  type: 'tool.ended',
  call,
  tool: 'issue_refund',
  duration: 3.2,
  argsSize: 13,
  resultSize: 2,
  result: 'ok',
  resultSha256: '0a1b',
} as const;

describe('auditEventOf', () => {
  it.each<[string, TaskFact, string, Record<string, unknown> | undefined]>([
    [
      'a session that starts',
      {
        type: 'session.started',
        requester: { provider: 'sso', userId: 'u-1', email: 'ann@example.com', orgId: 'o-1' },
      },
      'session_start',
      { provider: 'sso', user_id: 'u-1', email: 'ann@example.com', org_id: 'o-1' },
    ],
    [
      'a session without authentication',
      { type: 'session.started', requester: null },
      'session_start',
      undefined,
    ],
    [
      'a ruling',
      {
        type: 'call.ruled',
        call: { callId: 'c-1', argsSha256: 'ab12' },
        tool: 'issue_refund',
        decision: 'defer',
        layer: 'defer',
        rule: 'defer.tools.issue_refund[1]',
        reason: 'awaiting channel:slack:#refunds',
      },
      'call_ruled',
      {
        call_id: 'c-1',
        args_sha256: 'ab12',
        policy_sha256: 'ef56',
        tool: 'issue_refund',
        decision: 'defer',
        layer: 'defer',
        rule: 'defer.tools.issue_refund[1]',
        reason: 'awaiting channel:slack:#refunds',
      },
    ],
    [
      'a session that ends',
      { type: 'session.ended', state: 'failed' },
      'session_end',
      { state: 'failed' },
    ],
    [
      'a model call',
      called,
      'llm_call',
      { provider: 'scripted', model: 'demo', duration_ms: 13, input_tokens: 5, output_tokens: 7 },
    ],
    [
      'a model call that failed',
      { ...called, error: 'no answer' },
      'llm_call',
      {
        provider: 'scripted',
        model: 'demo',
        duration_ms: 13,
        input_tokens: 5,
        output_tokens: 7,
        error: 'no answer',
      },
    ],
    [
      'a turn before which something was left out',
      {
        type: 'context.compacted',
        results: 3,
        messages: 2,
        turns: 1,
        tokensBefore: 120_000,
        tokensAfter: 99_000,
      },
      'context_compacted',
      { results: 3, messages: 2, turns: 1, tokens_before: 120_000, tokens_after: 99_000 },
    ],
    [
      'a tool that starts',
      { type: 'tool.started', call, tool: 'issue_refund', argsSize: 13, args: { amount: 10 } },
      'tool_exec',
      { ...callFields, tool: 'issue_refund', phase: 'start', args_size: 13 },
    ],
    [
      'a tool that ends',
      ran,
      'tool_exec',
      {
        ...callFields,
        tool: 'issue_refund',
        phase: 'end',
        duration_ms: 3,
        args_size: 13,
        result_size: 2,
        result_sha256: '0a1b',
      },
    ],
    [
      'a tool that failed',
      {
        ...ran,
        resultSha256: undefined as never,
        resultSize: 0,
        error: 'exit code 1',
        complaint: 'no card 4711',
      },
      'tool_exec',
      {
        ...callFields,
        tool: 'issue_refund',
        phase: 'end',
        duration_ms: 3,
        args_size: 13,
        result_size: 0,
        error: 'exit code 1',
      },
    ],
    [
      'a session that ends at a limit',
      { type: 'session.ended', state: 'failed', limit: 'tokens' },
      'session_end',
      { state: 'failed', reason: 'tokens_limit' },
    ],
    [
      'a caller who has to sign in again',
      {
        type: 'stepUp.required',
        tool: 'issue_refund',
        requiredAcr: 'gold',
        presentedAcr: 'silver',
        reason: 'weaker',
      },
      'auth_step_up_required',
      { tool: 'issue_refund', required_acr: 'gold', presented_acr: 'silver', reason: 'weaker' },
    ],
    [
      'a caller who has to sign in again and showed no level',
      {
        type: 'stepUp.required',
        tool: 'issue_refund',
        requiredAcr: 'gold',
        presentedAcr: null,
        reason: 'none',
      },
      'auth_step_up_required',
      { tool: 'issue_refund', required_acr: 'gold', reason: 'none' },
    ],
    [
      'a call compared with what was asked for',
      { type: 'intent.judged', tool: 'issue_refund', score: 0.25, decision: 'warn', reason: 'low' },
      'intent_alignment',
      { tool: 'issue_refund', score: 0.25, decision: 'warn', reason: 'low' },
    ],
    [
      'a call that could not be compared',
      { type: 'intent.judged', tool: 'issue_refund', score: null, decision: 'deny', reason: 'no' },
      'intent_alignment',
      { tool: 'issue_refund', score: null, decision: 'deny', reason: 'no' },
    ],
    [
      'calls that drift',
      { type: 'intent.drifted', tool: 'issue_refund', reason: 'falling' },
      'intent_drift',
      { tool: 'issue_refund', reason: 'falling' },
    ],
    [
      'a rule that matched a call',
      { type: 'rule.matched', gate: 'arguments', decision: 'deny', tool: 'sh', rule: 'rm' },
      'guardrail_check',
      { gate: 'arguments', decision: 'deny', tool: 'sh', rule: 'rm' },
    ],
    [
      'a rule that matched a message',
      { type: 'rule.matched', gate: 'deny_prompts', decision: 'deny', tool: null, rule: 'rm' },
      'guardrail_check',
      { gate: 'deny_prompts', decision: 'deny', rule: 'rm' },
    ],
    [
      'a call that was rewritten',
      { type: 'call.modified', tool: 'issue_refund', part: 'output', rules: [0, 2] },
      'tool_call_modified',
      { tool: 'issue_refund', part: 'output', rules: [0, 2] },
    ],
    [
      'credentials',
      { type: 'credential.issued', call, tool: 'issue_refund', provider: 'aws', ttl: 899_600 },
      'credential_issued',
      { ...callFields, tool: 'issue_refund', provider: 'aws', ttl: 900 },
    ],
    [
      'credentials without an end',
      { type: 'credential.issued', call, tool: 'issue_refund', provider: 'static', ttl: null },
      'credential_issued',
      { ...callFields, tool: 'issue_refund', provider: 'static' },
    ],
    [
      'credentials that were not given',
      { type: 'credential.failed', tool: 'issue_refund', provider: 'aws' },
      'credential_failed',
      { tool: 'issue_refund', provider: 'aws' },
    ],
    [
      'a message of somebody',
      { type: 'message.received', size: 12, sender: { provider: 'sso', userId: 'u-1' } },
      'message_received',
      { size: 12, provider: 'sso', user_id: 'u-1' },
    ],
    [
      'a message of nobody in particular',
      { type: 'message.received', size: 12, sender: null },
      'message_received',
      { size: 12 },
    ],
    [
      'a reminder',
      { type: 'deferral.reminded', tool: 'issue_refund', to: 'channel:slack:C1', wait: 60_000.4 },
      'task_deferred_reminder',
      { tool: 'issue_refund', to: 'channel:slack:C1', wait_ms: 60_000 },
    ],
    [
      'a wait that is passed on',
      { type: 'deferral.escalated', tool: 'issue_refund', to: 'channel:slack:C2', wait: 90_000.6 },
      'task_deferred_escalated',
      { tool: 'issue_refund', to: 'channel:slack:C2', wait_ms: 90_001 },
    ],
    [
      'another request for a call that waits',
      { type: 'call.repeated', tool: 'issue_refund', requests: 2 },
      'task_deferred_repeated',
      { tool: 'issue_refund', requests: 2 },
    ],
    ['a deferral', opened({}), 'task_deferred', deferred],
    [
      'a deferral with its requester',
      {
        type: 'deferral.opened',
        deferral,
        requester: { provider: 'sso', userId: 'u-1', email: 'ann@example.com', orgId: 'o-1' },
      },
      'task_deferred',
      { ...deferred, provider: 'sso', user_id: 'u-1', email: 'ann@example.com', org_id: 'o-1' },
    ],
    [
      'a deferral with an allowlist',
      opened({ approvers: ['ann@example.com'] }),
      'task_deferred',
      { ...deferred, approvers: ['ann@example.com'] },
    ],
    [
      'a deferral that nobody can decide',
      opened({ approvers: [] }),
      'task_deferred',
      { ...deferred, approvers: [] },
    ],
    [
      'a deferral with a long context',
      opened({ context: '🧾'.repeat(600) }),
      'task_deferred',
      { ...deferred, context: '🧾'.repeat(512) },
    ],
    [
      'a decision',
      decided,
      'task_deferred_decision',
      {
        ...callFields,
        tool: 'issue_refund',
        decision: 'reject',
        approver: 'ann@example.com',
        note: 'too much',
        wait_ms: 1234,
        vouched_by: 'asserted',
        method: 'none',
      },
    ],
    [
      'a decision by nobody in particular',
      { ...decided, decision: 'approve', approver: 'unknown', note: '', vouchedBy: 'nobody' },
      'task_deferred_decision',
      {
        ...callFields,
        tool: 'issue_refund',
        decision: 'approve',
        approver: 'unknown',
        note: '',
        wait_ms: 1234,
        vouched_by: 'nobody',
        method: 'none',
      },
    ],
    [
      'a decision with a token',
      {
        ...decided,
        vouchedBy: 'token:sso',
        method: 'token',
        caller: { provider: 'sso', userId: 'u-1' },
      },
      'task_deferred_decision',
      {
        ...callFields,
        tool: 'issue_refund',
        decision: 'reject',
        approver: 'ann@example.com',
        note: 'too much',
        wait_ms: 1234,
        vouched_by: 'token:sso',
        method: 'token',
        provider: 'sso',
        user_id: 'u-1',
      },
    ],
    [
      'a decision that was refused',
      { ...decided, type: 'deferral.refused', note: '' },
      'task_deferred_decision',
      {
        ...callFields,
        tool: 'issue_refund',
        decision: 'reject',
        approver: 'ann@example.com',
        note: '',
        wait_ms: 1234,
        vouched_by: 'asserted',
        method: 'none',
        authorized: false,
      },
    ],
    [
      'a decision from a chat',
      {
        ...decided,
        decision: 'approve',
        note: '',
        vouchedBy: 'chat:slack',
        method: 'chat',
        caller: { provider: 'chat', userId: 'slack:T1/U1' },
        source: 'slack',
      },
      'task_deferred_decision',
      {
        ...callFields,
        tool: 'issue_refund',
        decision: 'approve',
        approver: 'ann@example.com',
        note: '',
        wait_ms: 1234,
        vouched_by: 'chat:slack',
        method: 'chat',
        provider: 'chat',
        user_id: 'slack:T1/U1',
        source: 'slack',
      },
    ],
    [
      'a timeout',
      { type: 'deferral.timedOut', call, tool: 'issue_refund', timeout: 300_000, wait: 300_000.6 },
      'task_deferred_timeout',
      { ...callFields, tool: 'issue_refund', timeout_ms: 300_000, wait_ms: 300_001 },
    ],
    [
      'an abandoned wait',
      {
        type: 'deferral.abandoned',
        call,
        tool: 'issue_refund',
        reason: 'caller_disconnected',
        wait: 5,
      },
      'task_deferred_abandoned',
      { ...callFields, tool: 'issue_refund', reason: 'caller_disconnected', wait_ms: 5 },
    ],
    [
      'a cancelled invocation',
      { type: 'invocation.cancelled', reason: 'cost_limit_exceeded' },
      'invocation_cancelled',
      { reason: 'cost_limit_exceeded' },
    ],
    [
      'a hop that was allowed',
      { type: 'egress.judged', domain: 'api.example.com', mode: 'allowlist', reason: null },
      'egress_allowed',
      { domain: 'api.example.com', mode: 'allowlist' },
    ],
    [
      'a hop that was blocked',
      { type: 'egress.judged', domain: 'evil.test', mode: 'deny-all', reason: 'not listed' },
      'egress_blocked',
      { domain: 'evil.test', mode: 'deny-all', reason: 'not listed' },
    ],
  ])('says %s', (_, fact, event, fields) => {
    const expected = fields === undefined ? { ...envelope, event } : { ...envelope, event, fields };
    expect(auditEventOf(fact, envelope, { policySha256 })).toStrictEqual(expected);
  });
});
