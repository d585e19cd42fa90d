import type { DeferralJson } from '../../../http/wire/dashboard/held-call-json.ts';
import type { TimelineEntryJson } from '../../../http/wire/dashboard/task-detail-json.ts';

/** The outcome of a decided call: whether it matches the approver's intent, and a string to follow the tool's name. */
export interface Outcome {
  isFine: boolean;
  words: string;
}

/** A call decided on this page. */
export interface Decided {
  deferral: DeferralJson;
  verb: 'approve' | 'reject';
  /** Epoch milliseconds of the server's clock. */
  at: number;
  /** The call's outcome; `null` while unknown, and for a rejected call. */
  outcome: Outcome | null;
}

/** Reads an approved call's outcome from its task's timeline; `null` while unknown. */
export function outcomeOf(
  timeline: readonly TimelineEntryJson[],
  { tool, requested_at, hold }: Pick<DeferralJson, 'tool' | 'requested_at' | 'hold'>,
): Outcome | null {
  const decided = timeline.findLastIndex(
    ({ event, at, fields }) =>
      event === 'task_deferred_decision' &&
      Date.parse(at) >= Date.parse(requested_at) &&
      fields['tool'] === tool &&
      fields['authorized'] !== false,
  );
  if (decided === -1) return null;
  const after = timeline.slice(decided + 1);
  const own = after.filter(({ fields }) => fields['tool'] === tool);
  if (hold !== undefined) return outcomeOfHold(own);
  const run = own.filter(({ event }) => event === 'tool_exec');
  const end = run.find(({ fields }) => fields['phase'] !== 'start');
  if (end !== undefined) {
    const { error, outcome } = end.fields;
    if (outcome === 'unknown') return unknownEnd;
    return error === undefined
      ? { isFine: true, words: 'ran' }
      : { isFine: false, words: typeof error === 'string' ? `failed: ${error}` : 'failed' };
  }
  if (run.length === 0 && own.some(isHeldAgain)) return heldAgain;
  if (!after.some(({ event }) => event === 'session_end')) return null;
  return run.length === 0 ? { isFine: false, words: 'never ran' } : unknownEnd;
}

const unknownEnd: Outcome = { isFine: false, words: 'started; outcome unknown' };

const heldAgain: Outcome = { isFine: false, words: 'is waiting for approval again' };

function isHeldAgain({ event }: TimelineEntryJson): boolean {
  return event === 'task_deferred';
}

/** The task of a hold ends with the decision; the program that runs the call reports the outcome later, or never. */
function outcomeOfHold(events: readonly TimelineEntryJson[]): Outcome | null {
  const last = (name: string) => events.findLast(({ event }) => event === name)?.fields;
  const reported = last('hold_outcome');
  if (reported !== undefined) return reportedOutcome(reported);
  if (last('hold_unaccounted') !== undefined) {
    return { isFine: false, words: 'was released; its program reported no outcome' };
  }
  if (last('hold_withdrawn') !== undefined) return { isFine: false, words: 'never ran' };
  return events.some(isHeldAgain) ? heldAgain : null;
}

function reportedOutcome({ status, error }: TimelineEntryJson['fields']): Outcome {
  if (status === 'succeeded') return { isFine: true, words: 'ran' };
  if (status === 'not_run') return { isFine: false, words: 'never ran' };
  return { isFine: false, words: typeof error === 'string' ? `failed: ${error}` : 'failed' };
}

/** What is shown for a released hold until its program reports the outcome. */
export const unreported = 'released, not reported yet';
