import type { AskedRecord, EndedRecord } from '../../../machines/channels/notice-of.ts';
import type { Task } from '../../../machines/task/task.ts';

/** A row of who is asked for a release, as a parked task has it. */
export interface Asking {
  task_id: string;
  deferral_id: string;
  adapter: string;
  target: string;
  asked: string;
  requested_at: number;
  expires_at: number;
}

/** Returns the rows that a task has while it waits: one for each target that is asked. */
export function askingsOf({ id, deferral, requester, stage }: Task): Asking[] {
  if (deferral === null) return [];
  const { args: _, ...shown } = deferral;
  const asked: AskedRecord = { taskId: id, deferral: shown, requester, stage: stage ?? 'asked' };
  const others = stage === 'escalated' ? [deferral.escalateTo] : [];
  const targets = [...(deferral.targets ?? [deferral.to]), ...others].filter(
    (target): target is string => typeof target === 'string',
  );
  return [...new Set(targets)].map((target) => ({
    task_id: id,
    deferral_id: deferral.id,
    adapter: adapterOf(target),
    target,
    asked: JSON.stringify(asked),
    requested_at: deferral.requestedAt,
    expires_at: deferral.expiresAt,
  }));
}

/** Returns what is kept of a task at the moment at which it no longer waits. */
export function endedOf({ state, text, changedAt, settled, failure }: Task): string {
  const ended: EndedRecord = { state, text, changedAt, settled, failure };
  return JSON.stringify(ended);
}

/** The middle of `channel:<adapter>:<target>`; all after the first colon when there is no other. */
function adapterOf(target: string): string {
  return target.slice(target.indexOf(':') + 1).split(':', 1)[0] ?? '';
}
