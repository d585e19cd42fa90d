import type { DeferralJson } from '../../../http/wire/dashboard/held-call-json.ts';
import type { TimelineEntryJson } from '../../../http/wire/dashboard/task-detail-json.ts';

type Waited = Pick<DeferralJson, 'agent_id' | 'tool' | 'requested_at'>;

/** Describes who ended a call's wait elsewhere, from its task's timeline; `null` if it was not decided. */
export function settledWords(
  timeline: readonly TimelineEntryJson[],
  waited: Waited,
): string | null {
  const decision = lastOf(timeline, waited, 'task_deferred_decision');
  if (decision === undefined) return null;
  const { tool, agent_id } = waited;
  return `Decided elsewhere: ${tool} of ${agent_id} was ${doneBy(decision)}.`;
}

/**
 * Describes how a call's wait ended, and by whom: `Rejected by ann: too much`; `null` if its task does not report it.
 */
export function endOfWait(timeline: readonly TimelineEntryJson[], waited: Waited): string | null {
  const decision = lastOf(timeline, waited, 'task_deferred_decision');
  if (decision !== undefined) {
    const { note } = decision.fields;
    const done = doneBy(decision);
    const said = typeof note === 'string' && note !== '' ? `: ${note}` : '';
    return `${done.charAt(0).toUpperCase()}${done.slice(1)}${said}`;
  }
  if (lastOf(timeline, waited, 'task_deferred_timeout') !== undefined)
    return 'Timed out without a decision';
  const isAbandoned = lastOf(timeline, waited, 'task_deferred_abandoned') !== undefined;
  return isAbandoned ? 'The request was abandoned' : null;
}

function lastOf(
  timeline: readonly TimelineEntryJson[],
  { tool, requested_at }: Waited,
  name: string,
): TimelineEntryJson | undefined {
  return timeline.findLast(
    ({ event, at, fields }) =>
      event === name && Date.parse(at) >= Date.parse(requested_at) && fields['tool'] === tool,
  );
}

function doneBy({ fields: { decision, approver } }: TimelineEntryJson): string {
  return `${decision === 'approve' ? 'released' : 'rejected'} by ${String(approver)}`;
}
