import { createHash } from 'node:crypto';
import type {
  ApprovalNews,
  ApprovalNotice,
  ApprovalOutcome,
} from '../../../machines/channels/approval-notice.ts';
import { optionsJson } from '../../../machines/domain/rule-options.ts';
import type { CallEdit, CallOutcome, HeldMessage } from '../../../machines/domain/task.ts';
import { boundsJson } from '../../../machines/governance/limit-json.ts';
import type { JsonObject } from '../../../machines/json.ts';

const outcomeTypes = {
  approved: 'approval.approved',
  rejected: 'approval.rejected',
  timedOut: 'approval.timed_out',
  canceled: 'approval.canceled',
  abandoned: 'approval.abandoned',
} as const satisfies Record<ApprovalOutcome['kind'], string>;

/** The types of webhook events. */
export type WebhookEventType =
  | 'approval.requested'
  | 'approval.reminded'
  | 'approval.escalated'
  | 'approval.counted'
  | 'approval.message'
  | 'approval.repeated'
  | 'approval.finished'
  | (typeof outcomeTypes)[ApprovalOutcome['kind']];

/** Payload of a webhook; field names and times match the HTTP surface. Arguments are redacted for people. */
export interface WebhookEvent {
  type: WebhookEventType;
  /** RFC 3339 UTC with milliseconds: the time of the event, or of its first notice if no time was recorded. */
  timestamp: string;
  data: JsonObject;
}

/** Source of a payload. */
export interface WebhookSender {
  agentId: string;
  agentUrl: string;
  /** The dashboard URL; `null` for none. */
  dashboardUrl: string | null;
}

/**
 * Returns the event type of a notice. `news` is `null` for the first notice of a target; the first notice of a target
 * added later is an escalation.
 */
export function webhookEventType(
  { request, outcome }: ApprovalNotice,
  news: ApprovalNews | null,
): WebhookEventType {
  if (news === 'finished') return 'approval.finished';
  if (outcome !== null) return outcomeTypes[outcome.kind];
  if (news === 'counted') return 'approval.counted';
  if (news === 'written') return 'approval.message';
  if (news === 'repeated') return 'approval.repeated';
  if (news === 'reminded') return 'approval.reminded';
  return request.stage === 'escalated' ? 'approval.escalated' : 'approval.requested';
}

/** Converts a notice to a webhook payload; `now` is in epoch milliseconds. */
export function webhookEvent(
  type: WebhookEventType,
  { request, outcome }: ApprovalNotice,
  sender: WebhookSender,
  now: number,
): WebhookEvent {
  const taskId = encodeURIComponent(request.taskId);
  const agentUrl = withoutSlash(sender.agentUrl);
  const dashboardUrl = sender.dashboardUrl === null ? null : withoutSlash(sender.dashboardUrl);
  return {
    type,
    timestamp: timestamp(happenedAt(type, { request, outcome }) ?? now),
    data: {
      agent_id: sender.agentId,
      task_id: request.taskId,
      deferral_id: request.deferralId,
      tool: request.tool,
      context: request.context,
      ...(request.args === undefined ? {} : { args: request.args }),
      args_sha256: request.argsSha256,
      ...(request.edits === undefined ? {} : { edits: request.edits.map(editJson) }),
      ...(request.repeats === undefined ? {} : { repeats: repeatsJson(request.repeats) }),
      ...boundsJson(request),
      ...(request.requests === undefined ? {} : { requests: request.requests }),
      requester: request.requester,
      target: request.target,
      approvers: request.approvers,
      quorum: request.quorum,
      ...optionsJson(request),
      approvals: request.approvals.map(({ approver, at }) => ({ approver, at: timestamp(at) })),
      ...(request.messages === undefined ? {} : { messages: request.messages.map(messageJson) }),
      requested_at: timestamp(request.requestedAt),
      expires_at: timestamp(request.expiresAt),
      decision_url: `${agentUrl}/tasks/${taskId}/decisions`,
      approval_url: dashboardUrl === null ? null : `${dashboardUrl}/#/approvals/${taskId}`,
      ...(outcome === null ? {} : { outcome: outcomeJson(outcome) }),
    },
  };
}

/**
 * Returns the id by which a receiver detects duplicates: stable across retries and restarts for one notice, different
 * for other news.
 */
export function webhookId(type: WebhookEventType, { request }: ApprovalNotice): string {
  const { target, taskId, deferralId, approvals, messages = [], requests = 1 } = request;
  const written = type === 'approval.message' ? [messages.length, messages.at(-1)?.at ?? 0] : [];
  const repeated = type === 'approval.repeated' ? [requests] : [];
  const told = [...written, ...repeated];
  const said = JSON.stringify([target, taskId, deferralId, type, approvals.length, ...told]);
  return `msg_${createHash('sha256').update(said).digest('hex').slice(0, 32)}`;
}

function messageJson({ from, text, at }: HeldMessage): JsonObject {
  return { from, text, ...(at === undefined ? {} : { at: timestamp(at) }) };
}

function callJson(outcome: CallOutcome | undefined): JsonObject {
  if (outcome === undefined) return {};
  const { kind } = outcome;
  const error = kind === 'failed' ? { error: outcome.error } : {};
  return { outcome: kind === 'neverRan' ? 'never_ran' : kind, ...error };
}

function outcomeJson(outcome: ApprovalOutcome): JsonObject {
  if (outcome.kind !== 'approved') {
    const { kind, at, ...rest } = outcome;
    return { kind: kind === 'timedOut' ? 'timed_out' : kind, ...rest, at: timestamp(at) };
  }
  const { kind, at, approver, note, changes, isHeldAgain, outcome: end } = outcome;
  return {
    kind,
    approver,
    note,
    ...(changes === undefined ? {} : { changes: changes.map((one) => ({ ...one })) }),
    ...(isHeldAgain === undefined ? {} : { held_again: true }),
    ...callJson(end),
    at: timestamp(at),
  };
}

function editJson({ approver, at, changes }: CallEdit): JsonObject {
  return { approver, at: timestamp(at), changes: changes.map((one) => ({ ...one })) };
}

/** A notice does not contain the due time of a reminder or an escalation. */
function happenedAt(type: WebhookEventType, { request, outcome }: ApprovalNotice): number | null {
  if (outcome !== null) return outcome.at;
  if (type === 'approval.counted') return request.approvals.at(-1)?.at ?? null;
  if (type === 'approval.message') return request.messages?.at(-1)?.at ?? null;
  return type === 'approval.requested' ? request.requestedAt : null;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

function timestamp(at: number): string {
  return new Date(at).toISOString();
}

function repeatsJson({ callId, at, approver }: NonNullable<ApprovalNotice['request']['repeats']>) {
  const repeats = { call_id: callId, at: timestamp(at) };
  return approver === undefined ? repeats : { ...repeats, approver };
}
