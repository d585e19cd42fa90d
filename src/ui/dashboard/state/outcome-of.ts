import type { DeferralJson } from '../../../http/wire/dashboard/held-call-json.ts';
import type { TimelineEntryJson } from '../../../http/wire/dashboard/task-detail-json.ts';

/** The outcome of a decided call: whether it matches the approver's intent, and a text to follow the tool's name. */
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
  { tool, requested_at }: Pick<DeferralJson, 'tool' | 'requested_at'>,
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
  const run = own.filter(({ event }) => event === 'tool_exec');
  const end = run.find(({ fields }) => fields['phase'] !== 'start');
  if (end !== undefined) {
    const { error } = end.fields;
    return error === undefined
      ? { isFine: true, words: 'ran' }
      : { isFine: false, words: typeof error === 'string' ? `failed: ${error}` : 'failed' };
  }
  if (run.length === 0 && own.some(({ event }) => event === 'task_deferred')) {
    return { isFine: false, words: 'is waiting for approval again' };
  }
  if (!after.some(({ event }) => event === 'session_end')) return null;
  return run.length === 0
    ? { isFine: false, words: 'never ran' }
    : { isFine: false, words: 'started; outcome unknown' };
}
