import { formatDuration } from '../../machines/duration.ts';
import type { JsonValue } from '../../machines/json.ts';
import type { Task } from '../../machines/task/task.ts';
import { presentRequester } from './origin-json.ts';
import { presentBinding } from './task-json.ts';
import { timestamp } from './timestamp.ts';

/**
 * Formats a task's pending deferral for approvers (docs/contract/transports.md); `null` if none is pending. The
 * arguments are redacted for display, unless all of them are requested.
 */
export function presentDeferral(
  { id, requester, deferral, stage, records }: Task,
  { isWhole = false } = {},
): { [key: string]: JsonValue } | null {
  if (deferral === null) return null;
  const { args, shown = args, messages = [] } = deferral;
  const isHidden = JSON.stringify(shown) !== JSON.stringify(args);
  const modified = records.filter(
    ({ callId, decision }) => callId === deferral.id && decision === 'modify',
  );
  return {
    id: deferral.id,
    task_id: id,
    tool: deferral.tool,
    to: deferral.to,
    timeout: formatDuration(deferral.timeout),
    context: deferral.context,
    args: isWhole ? args : shown,
    ...(isHidden && !isWhole ? { args_redacted: true } : {}),
    args_sha256: deferral.argsSha256,
    ...presentBinding(deferral),
    ...(modified.length === 0
      ? {}
      : {
          modified: modified.map(({ reason }) => reason).join(', '),
          changes: modified.flatMap(({ changes = [] }) => changes.map((change) => ({ ...change }))),
        }),
    requester: presentRequester(requester),
    requested_at: timestamp(deferral.requestedAt),
    expires_at: timestamp(deferral.expiresAt),
    approvers: deferral.approvers,
    quorum: deferral.quorum,
    ...(stage !== 'escalated' && deferral.escalateAt !== null
      ? { escalates_at: timestamp(deferral.escalateAt) }
      : {}),
    ...(stage === 'escalated' && deferral.escalateTo !== null
      ? { escalated_to: deferral.escalateTo }
      : {}),
    approvals: deferral.approvals.map(({ approver, at }) => ({ approver, at: timestamp(at) })),
    ...(messages.length === 0
      ? {}
      : {
          messages: messages.map(({ from, text, at }) => ({
            from,
            text,
            ...(at === undefined ? {} : { at: timestamp(at) }),
          })),
        }),
  };
}
