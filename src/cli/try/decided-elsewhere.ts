import { tailLines } from '../../actors/records/records.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { eventOfWait } from '../../machines/domain/hold-events.ts';
import { plainLine } from '../plain-text.ts';
import type { DeferralJson } from '../task/read-answer.ts';
import type { Demo } from './demo.ts';

/** Maximum number of a task's latest log lines that are searched. */
const looked = 100;

/**
 * Returns the approver who decided on a held call, for example on the page; `null` while the audit log has no decision.
 */
export async function decidedElsewhere(
  { auditPath: path }: Pick<Demo, 'auditPath'>,
  { task_id: task, tool, requested_at }: Pick<DeferralJson, 'task_id' | 'tool' | 'requested_at'>,
): Promise<string | null> {
  const lines = tailLines({ path, task, limit: looked, clock: systemClock() });
  const events = (await Array.fromAsync(lines)).flatMap(({ event }) => event ?? []);
  const decisions = events
    .filter(
      ({ event, ts }) => eventOfWait(event) === 'task_deferred_decision' && ts >= requested_at,
    )
    .map(({ fields }) => Object(fields) as Record<string, unknown>);
  const { decision, approver, note } =
    decisions.findLast((fields) => fields['tool'] === tool) ?? {};
  if (typeof decision !== 'string' || typeof approver !== 'string') return null;
  const done = decision === 'approve' ? 'released' : 'rejected';
  const why = typeof note === 'string' && note !== '' ? `: ${note}` : '';
  return plainLine(`Decided elsewhere: ${tool} was ${done} by ${approver}${why}`);
}
