import type { DeferralJson } from '../../../http/wire/dashboard/held-call-json.ts';
import type { TimelineEntryJson } from '../../../http/wire/dashboard/task-detail-json.ts';

/** Says who ended the wait of a call somewhere else, as its task's timeline has it; `null` when nobody decided. */
export function settledWords(
  timeline: readonly TimelineEntryJson[],
  { agent_id, tool, requested_at }: Pick<DeferralJson, 'agent_id' | 'tool' | 'requested_at'>,
): string | null {
  const decision = timeline.findLast(
    ({ event, at, fields }) =>
      event === 'task_deferred_decision' &&
      Date.parse(at) >= Date.parse(requested_at) &&
      fields['tool'] === tool,
  );
  if (decision === undefined) return null;
  const { decision: verb, approver } = decision.fields;
  const done = verb === 'approve' ? 'released' : 'rejected';
  return `Decided elsewhere: ${tool} of ${agent_id} was ${done} by ${String(approver)}.`;
}
