import type { CallJson, Calls } from './approvals-client.ts';

const outcomes = {
  ran: 'It ran.',
  failed: 'It failed',
  never_ran: 'It never ran.',
  unknown: 'It was started; the outcome is unknown.',
} as const;

/** Describes what came of a call that the person approved; `null` while a run of the agent itself is under way. */
export function outcomeWords(
  { outcome, error }: Pick<Calls['decided'][number], 'outcome' | 'error'>,
  call: Pick<CallJson, 'hold'>,
): string | null {
  if (outcome === undefined) return call.hold === undefined ? null : 'Released, not reported yet.';
  if (outcome !== 'failed') return outcomes[outcome];
  return error === undefined ? `${outcomes.failed}.` : `${outcomes.failed}: ${error}`;
}
