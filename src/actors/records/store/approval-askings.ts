import type { AskedRecord, EndedRecord } from '../../../machines/channels/notice-of.ts';
import type { Task } from '../../../machines/domain/task.ts';
import type { SharedValues } from './shared-values.ts';

/** An approval notice row of a parked task. */
export interface Asking {
  task_id: string;
  deferral_id: string;
  adapter: string;
  target: string;
  asked: string;
  requested_at: number;
  expires_at: number;
}

/** Returns the notice rows of a waiting task: one for each target. `shared` wrote the row of the task. */
export function askingsOf(
  { id, deferral, requester, stage }: Task,
  shared: SharedValues | null,
): Asking[] {
  if (deferral === null) return [];
  const { args: _, ...shown } = deferral;
  const asked: AskedRecord = { taskId: id, deferral: shown, requester, stage: stage ?? 'asked' };
  const others = stage === 'escalated' ? [deferral.escalateTo] : [];
  const targets = [...deferral.targets, ...others].filter(
    (target): target is string => typeof target === 'string',
  );
  const json = shared === null ? JSON.stringify(asked) : shared.askedJson(asked);
  return [...new Set(targets)].map((target) => ({
    task_id: id,
    deferral_id: deferral.id,
    adapter: adapterOf(target),
    target,
    asked: json,
    requested_at: deferral.requestedAt,
    expires_at: deferral.expiresAt,
  }));
}

/** Returns the record of a task at the moment its wait ends. */
export function endedOf({ state, text, changedAt, settled, failure }: Task): string {
  const ended: EndedRecord = { state, text, changedAt, settled, failure };
  return JSON.stringify(ended);
}

/** Returns the adapter of `channel:<adapter>:<target>`; everything after the first colon if there is no second. */
function adapterOf(target: string): string {
  return target.slice(target.indexOf(':') + 1).split(':', 1)[0] ?? '';
}
