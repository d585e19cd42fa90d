import type { DecisionReport, TaskFact } from '../../../machines/domain/facts.ts';
import type { JsonValue } from '../../../machines/json.ts';
import { cutToRunes } from '../../../machines/text.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import type { Capture } from './capture.ts';
import { egressWords } from './egress-words.ts';

/** An event without the parts that the fact provides. */
export type AuditEnvelope = Omit<AuditEvent, 'event' | 'fields'>;

type FactOf<Type extends TaskFact['type']> = Extract<TaskFact, { type: Type }>;
type Fields = Record<string, JsonValue | undefined>;
type EventWords = [event: string, fields?: Fields];
type Wording = { [Type in TaskFact['type']]: (fact: FactOf<Type>) => EventWords };

const maximumContextRunes = 512;

/**
 * Converts a fact of a task to an audit event (docs/contract/audit.md). Without `capture`, the contents of the fact are
 * omitted.
 */
export function auditEventOf(
  fact: TaskFact,
  envelope: AuditEnvelope,
  capture: Capture | null = null,
): AuditEvent {
  const inWords = wording[fact.type] as (fact: TaskFact) => EventWords;
  const [event, fields] = inWords(fact);
  if (fields === undefined) return { ...envelope, event };
  return { ...envelope, event, fields: { ...withoutUndefined(fields), ...capture?.(fact) } };
}

const wording: Wording = {
  'session.started': () => ['session_start'],
  'session.ended': ({ state, limit }) => [
    'session_end',
    { state, reason: limit === undefined ? undefined : `${limit}_limit` },
  ],
  'model.called': (fact) => [
    'llm_call',
    {
      provider: fact.provider,
      model: fact.model,
      duration_ms: Math.round(fact.duration),
      input_tokens: fact.inputTokens,
      output_tokens: fact.outputTokens,
      finish_reason: fact.finishReason,
      error: fact.error,
    },
  ],
  'context.compacted': ({ results, messages, turns, tokensBefore, tokensAfter }) => [
    'context_compacted',
    { results, messages, turns, tokens_before: tokensBefore, tokens_after: tokensAfter },
  ],
  'stepUp.required': (fact) => [
    'auth_step_up_required',
    {
      tool: fact.tool,
      required_acr: fact.requiredAcr,
      presented_acr: fact.presentedAcr ?? undefined,
      reason: fact.reason,
    },
  ],
  'intent.judged': ({ tool, score, decision, reason }) => [
    'intent_alignment',
    { tool, score, decision, reason },
  ],
  'intent.drifted': ({ tool, reason }) => ['intent_drift', { tool, reason }],
  'rule.matched': ({ gate, decision, tool, rule }) => [
    'guardrail_check',
    { gate, decision, tool: tool ?? undefined, rule },
  ],
  'rule.shadowed': ({ tool, rule, would }) => ['policy_shadow', { tool, rule, would }],
  'call.modified': ({ tool, part, rules }) => ['tool_call_modified', { tool, part, rules }],
  'credential.issued': ({ tool, provider, ttl }) => [
    'credential_issued',
    { tool, provider, ttl: ttl === null ? undefined : Math.round(ttl / 1_000) },
  ],
  'credential.failed': ({ tool, provider }) => ['credential_failed', { tool, provider }],
  'tool.started': ({ tool, argsSize }) => [
    'tool_exec',
    { tool, phase: 'start', args_size: argsSize },
  ],
  'tool.ended': (fact) => [
    'tool_exec',
    {
      tool: fact.tool,
      phase: 'end',
      duration_ms: Math.round(fact.duration),
      args_size: fact.argsSize,
      result_size: fact.resultSize,
      error: fact.error,
    },
  ],
  'message.received': ({ size, sender }) => [
    'message_received',
    { size, provider: sender?.provider, user_id: sender?.userId },
  ],
  'deferral.opened': ({ deferral }) => [
    'task_deferred',
    {
      tool: deferral.tool,
      to: deferral.to,
      timeout_ms: Math.round(deferral.timeout),
      context: cutToRunes(deferral.context, maximumContextRunes),
      approvers: deferral.approvers ?? undefined,
    },
  ],
  'call.repeated': ({ tool, requests }) => ['task_deferred_repeated', { tool, requests }],
  'deferral.decided': (fact) => ['task_deferred_decision', decisionFields(fact)],
  'deferral.refused': (fact) => [
    'task_deferred_decision',
    { ...decisionFields(fact), authorized: false },
  ],
  'deferral.reminded': ({ tool, to, wait }) => [
    'task_deferred_reminder',
    { tool, to, wait_ms: Math.round(wait) },
  ],
  'deferral.escalated': ({ tool, to, wait }) => [
    'task_deferred_escalated',
    { tool, to, wait_ms: Math.round(wait) },
  ],
  'deferral.timedOut': ({ tool, timeout, wait }) => [
    'task_deferred_timeout',
    { tool, timeout_ms: Math.round(timeout), wait_ms: Math.round(wait) },
  ],
  'deferral.abandoned': ({ tool, reason, wait }) => [
    'task_deferred_abandoned',
    { tool, reason, wait_ms: Math.round(wait) },
  ],
  'invocation.cancelled': ({ reason }) => ['invocation_cancelled', { reason }],
  'egress.judged': (fact) => egressWords(fact),
};

function decisionFields(fact: DecisionReport): Fields {
  return {
    tool: fact.tool,
    decision: fact.decision,
    approver: fact.approver,
    note: fact.note,
    wait_ms: Math.round(fact.wait),
    vouched_by: fact.vouchedBy,
    provider: fact.caller?.provider,
    user_id: fact.caller?.userId,
    source: fact.source,
  };
}

function withoutUndefined(fields: Fields): Record<string, JsonValue> {
  const present: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) present[key] = value;
  }
  return present;
}
