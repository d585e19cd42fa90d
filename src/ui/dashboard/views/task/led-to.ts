import type { TimelineEntryJson } from '../../../../http/wire/dashboard/task-detail-json.ts';
import { isWithin } from '../../chart/drawn-chart.ts';
import type { Stop } from '../../chart/walk.ts';

const running = ['working.executing.minting', 'working.executing.calling'];
const ends = ['completed', 'failed', 'canceled'];
const ruled = ['deferred.asked', ...running, 'failed'];

/**
 * The states to which each log event leads. The log and the state history read the clock separately, so times alone
 * cannot determine on which side of a transition an event is.
 */
const destinations: Record<string, (fields: Record<string, unknown>) => string[]> = {
  session_start: () => ['submitted'],
  session_end: () => ends,
  llm_call: () => ['working.governing', 'completed', 'failed'],
  guardrail_check: ({ gate }) =>
    gate === 'deny_output' || gate === 'redact' ? ['working.executing.recording', 'failed'] : ruled,
  call_ruled: () => ruled,
  intent_alignment: () => ruled,
  intent_drift: () => ruled,
  auth_step_up_required: () => ['failed'],
  tool_call_modified: ({ part }) =>
    part === 'output' ? ['working.executing.recording', 'failed'] : ruled,
  credential_issued: () => ['working.executing.calling'],
  credential_failed: () => ['failed'],
  tool_exec: ({ phase }) =>
    phase === 'start'
      ? ['working.executing.calling']
      : ['working.executing.recording', 'failed', 'canceled'],
  task_deferred: () => ['deferred.asked'],
  task_deferred_reminder: () => ['deferred.reminded'],
  task_deferred_escalated: () => ['deferred.escalated'],
  task_deferred_decision: ({ decision, authorized }) => {
    if (authorized === false) return [];
    return decision === 'approve' ? running : ['working.executing.recording', 'failed'];
  },
  task_deferred_timeout: () => ['failed'],
  task_deferred_abandoned: () => ['failed', 'canceled'],
  invocation_cancelled: () => ['canceled'],
};

/**
 * Maximum difference of the two clock readings in milliseconds. An event without a matching transition within this time
 * changed no state.
 */
const tolerance = 1_000;

/** Returns the stop of each event, oldest first: the stop that it led to, else the stop during which it happened. */
export function stopsOfEvents(
  entries: readonly Pick<TimelineEntryJson, 'at' | 'event' | 'fields'>[],
  stops: readonly Stop[],
): number[] {
  let reached = 0;
  return entries.map(({ at, event, fields }) => {
    const time = Date.parse(at);
    const leads = Object.hasOwn(destinations, event) ? (destinations[event]?.(fields) ?? []) : [];
    const next = stops.findIndex(({ box }, index) => index >= reached && leads.includes(box.id));
    const led = stops[next];
    if (led !== undefined && Math.abs(led.entered - time) <= tolerance) reached = next;
    else
      reached = Math.max(
        reached,
        stops.findLastIndex(({ entered }) => entered <= time),
      );
    return reached;
  });
}

/** Returns true if a stop is in a state or in a region. */
export function isStopIn(stop: Stop | undefined, box: string): boolean {
  return stop !== undefined && isWithin(stop.box.id, box);
}
