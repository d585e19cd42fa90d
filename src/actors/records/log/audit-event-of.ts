import { markOfDeferral } from '../../../machines/domain/call-mark.ts';
import type { CallMark, DecisionReport, TaskFact } from '../../../machines/domain/facts.ts';
import type { HoldRequest } from '../../../machines/domain/hold.ts';
import { eventOfHold } from '../../../machines/domain/hold-events.ts';
import { layerNames } from '../../../machines/domain/layer-names.ts';
import type { LedgerEntry } from '../../../machines/domain/ledger.ts';
import type { Caller, Deferral } from '../../../machines/domain/task.ts';
import type { JsonValue } from '../../../machines/json.ts';
import { cutToRunes } from '../../../machines/text.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import { aarmDecision } from './aarm-decision.ts';
import type { Capture } from './capture.ts';
import { egressWords } from './egress-words.ts';

/** An event without the parts that the fact provides. */
export type AuditEnvelope = Omit<AuditEvent, 'event' | 'fields'>;

type FactOf<Type extends TaskFact['type']> = Extract<TaskFact, { type: Type }>;
type Fields = Record<string, JsonValue | undefined>;
type EventWords = [event: string, fields?: Fields | undefined];
type Wording = {
  [Type in TaskFact['type']]: (fact: FactOf<Type>, policySha256: string | undefined) => EventWords;
};

const maximumContextRunes = 512;

/** The parts of an event that the agent provides. */
export interface EventSource {
  /** `null` omits the contents of facts. */
  capture?: Capture | null;
  /** Digest of the policy in force. */
  policySha256?: string | undefined;
  /** True for a call that another program runs. */
  isHold?: boolean;
  /** `aarm` adds each decision in the words of that standard. */
  vocabulary?: 'holdpoint' | 'aarm';
}

/** Converts a fact of a task to an audit event (docs/contract/audit.md). */
export function auditEventOf(
  fact: TaskFact,
  envelope: AuditEnvelope,
  { capture = null, policySha256, isHold = false, vocabulary = 'holdpoint' }: EventSource = {},
): AuditEvent {
  const inWords = wording[fact.type] as (fact: TaskFact, policy: string | undefined) => EventWords;
  const [name, fields] = inWords(fact, policySha256);
  const event = isHold ? eventOfHold(name) : name;
  if (fields === undefined) return { ...envelope, event };
  const aarm_decision = vocabulary === 'aarm' ? aarmDecision(fact) : undefined;
  const said = withoutUndefined({ ...fields, aarm_decision });
  return { ...envelope, event, fields: { ...said, ...capture?.(fact) } };
}

const wording: Wording = {
  'session.started': ({ requester, hold }) => [
    'session_start',
    requester === null && hold === undefined
      ? undefined
      : { ...(requester === null ? {} : requesterFields(requester)), ...holdFields(hold) },
  ],
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
  'credential.issued': ({ call, tool, provider, ttl }, policy) => [
    'credential_issued',
    {
      ...callFields(call, policy),
      tool,
      provider,
      ttl: ttl === null ? undefined : Math.round(ttl / 1_000),
    },
  ],
  'credential.failed': ({ tool, provider }) => ['credential_failed', { tool, provider }],
  'call.ruled': ({ call, tool, decision, layer, rule, reason }, policy) => [
    'call_ruled',
    { ...callFields(call, policy), tool, decision, layer: layerNames[layer], rule, reason },
  ],
  'limit.reserved': ({ call, tool, entries, over }, policy) => [
    'limit_reserved',
    {
      ...callFields(call, policy),
      tool,
      limits: limitFields(entries),
      over: over.length === 0 ? undefined : [...over],
    },
  ],
  'limit.reached': ({ call, tool, limit, decision }, policy) => [
    'limit_reached',
    {
      ...callFields(call, policy),
      tool,
      limit: limit.name,
      by: { ...limit.by },
      max: limit.max,
      used: limit.used,
      reserved: limit.reserved,
      amount: limit.amount,
      decision,
    },
  ],
  'limit.returned': ({ call, tool, entries }, policy) => [
    'limit_returned',
    { ...callFields(call, policy), tool, limits: limitFields(entries) },
  ],
  'tool.started': ({ call, tool, argsSize }, policy) => [
    'tool_exec',
    { ...callFields(call, policy), tool, phase: 'start', args_size: argsSize },
  ],
  'tool.ended': (fact, policy) => [
    'tool_exec',
    {
      ...callFields(fact.call, policy),
      tool: fact.tool,
      phase: 'end',
      duration_ms: Math.round(fact.duration),
      args_size: fact.argsSize,
      result_size: fact.resultSize,
      result_sha256: fact.resultSha256,
      outcome: fact.outcome,
      error: fact.error,
    },
  ],
  'message.received': ({ size, sender }) => [
    'message_received',
    { size, provider: sender?.provider, user_id: sender?.userId },
  ],
  'deferral.opened': ({ deferral, requester, policySha256 }, policy) => [
    'task_deferred',
    {
      ...callFields(markOfDeferral(deferral), policySha256 ?? policy),
      ...(requester === null ? {} : requesterFields(requester)),
      tool: deferral.tool,
      edited_from: editedFrom(deferral),
      to: deferral.to,
      timeout_ms: Math.round(deferral.timeout),
      context: cutToRunes(deferral.context, maximumContextRunes),
      approvers: deferral.approvers ?? undefined,
    },
  ],
  'call.repeated': ({ tool, requests }) => ['task_deferred_repeated', { tool, requests }],
  'deferral.decided': (fact, policy) => ['task_deferred_decision', decisionFields(fact, policy)],
  'grant.used': ({ call, tool, grant }, policy) => [
    'grant_used',
    {
      ...{ ...callFields(call, policy), tool, grant_id: grant.id },
      ...{ approver: grant.approver, for: grant.for, uses_left: grant.usesLeft },
    },
  ],
  'deferral.refused': (fact, policy) => [
    'task_deferred_decision',
    { ...decisionFields(fact, policy), authorized: false },
  ],
  'deferral.reminded': ({ tool, to, wait }) => [
    'task_deferred_reminder',
    { tool, to, wait_ms: Math.round(wait) },
  ],
  'deferral.escalated': ({ tool, to, wait }) => [
    'task_deferred_escalated',
    { tool, to, wait_ms: Math.round(wait) },
  ],
  'deferral.timedOut': ({ call, tool, timeout, wait }, policy) => [
    'task_deferred_timeout',
    {
      ...callFields(call, policy),
      tool,
      timeout_ms: Math.round(timeout),
      wait_ms: Math.round(wait),
    },
  ],
  'deferral.abandoned': ({ call, tool, reason, wait }, policy) => [
    'task_deferred_abandoned',
    { ...callFields(call, policy), tool, reason, wait_ms: Math.round(wait) },
  ],
  'hold.released': ({ call, tool }, policy) => [
    'hold_released',
    { ...callFields(call, policy), tool },
  ],
  'hold.closed': ({ call, tool, status, resultSha256, error }, policy) => [
    'hold_outcome',
    { ...callFields(call, policy), tool, status, result_sha256: resultSha256, error },
  ],
  'hold.withdrawn': ({ call, tool, reason }, policy) => [
    'hold_withdrawn',
    { ...callFields(call, policy), tool, reason },
  ],
  'hold.unaccounted': ({ call, tool, within }, policy) => [
    'hold_unaccounted',
    { ...callFields(call, policy), tool, within_ms: within },
  ],
  'invocation.cancelled': ({ reason }) => ['invocation_cancelled', { reason }],
  'egress.judged': (fact) => egressWords(fact),
};

/** Returns the fields that identify a call in an event; `policySha256` is for an event that is not part of a ruling. */
export function callFields(call: CallMark, policySha256: string | undefined): Fields {
  return {
    call_id: call.callId,
    deferral_id: call.deferralId,
    args_sha256: call.argsSha256,
    runs_sha256: call.runsSha256,
    policy_sha256: call.policySha256 ?? policySha256,
  };
}

/** Returns what a call adds to its limits. */
function limitFields(entries: readonly LedgerEntry[]): JsonValue {
  return entries.flatMap((entry) =>
    entry.kind === 'limit' ? [{ name: entry.name, key: entry.key, amount: entry.amount }] : [],
  );
}

/** What a program states of the call that it wants to run. */
function holdFields(hold: HoldRequest | undefined): Fields {
  if (hold === undefined) return {};
  const { key, agent, session, subject, client, context } = hold;
  // The folder as it is shown, without secrets.
  const cwd = hold.cwd === undefined ? undefined : context?.['cwd'];
  return { key, agent, session, subject, client, cwd };
}

function requesterFields({ userId, email, provider, orgId }: Caller): Fields {
  return { user_id: userId, email, provider, org_id: orgId };
}

/** The call before its approver changed it, if it is held again. */
function editedFrom({ edits }: Deferral): JsonValue | undefined {
  const last = edits?.at(-1);
  if (last === undefined) return undefined;
  const { deferralId, before, approver } = last;
  return { call_id: deferralId, args_sha256: before.argsSha256, approver };
}

function decisionFields(fact: DecisionReport, policySha256: string | undefined): Fields {
  return {
    ...callFields(fact.call, policySha256),
    tool: fact.tool,
    decision: fact.decision,
    edited_args_sha256: fact.editedArgsSha256,
    approver: fact.approver,
    as: fact.as === undefined ? undefined : [...fact.as],
    for: fact.for,
    note: fact.note,
    wait_ms: Math.round(fact.wait),
    vouched_by: fact.vouchedBy,
    method: fact.method,
    provider: fact.caller?.provider,
    user_id: fact.caller?.userId,
    source: fact.source,
    passkey: fact.passkey === undefined ? undefined : { ...fact.passkey },
  };
}

function withoutUndefined(fields: Fields): Record<string, JsonValue> {
  const present: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) present[key] = value;
  }
  return present;
}
