import { systemClock } from '../../actors/clock.ts';
import { tailLines } from '../../actors/records/records.ts';
import { plainLine } from '../plain-text.ts';
import type { DeferralJson } from '../task/task-shape.ts';
import type { Demo } from './demo.ts';

/** Lines of a task that are looked through from the end. */
const looked = 100;

/** Says who decided on a held call, such as on the page; `null` while nobody has, as the audit log knows first. */
export async function decidedElsewhere(
  { auditPath: path }: Pick<Demo, 'auditPath'>,
  { task_id: task, tool, requested_at }: Pick<DeferralJson, 'task_id' | 'tool' | 'requested_at'>,
): Promise<string | null> {
  const lines = tailLines({ path, task, limit: looked, clock: systemClock() });
  const events = (await Array.fromAsync(lines)).flatMap(({ event }) => event ?? []);
  const decisions = events
    .filter(({ event, ts }) => event === 'task_deferred_decision' && ts >= requested_at)
    .map(({ fields }) => Object(fields) as Record<string, unknown>);
  const { decision, approver, note } =
    decisions.findLast((fields) => fields['tool'] === tool) ?? {};
  if (typeof decision !== 'string' || typeof approver !== 'string') return null;
  const done = decision === 'approve' ? 'released' : 'rejected';
  const why = typeof note === 'string' && note !== '' ? `: ${note}` : '';
  return plainLine(`Decided elsewhere: ${tool} was ${done} by ${approver}${why}`);
}
