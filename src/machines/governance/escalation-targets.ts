import type { EscalationStage } from '../domain/task.ts';

/** The `escalate_to` of a rule: one target, or stages. */
export type EscalateTo = string | readonly EscalationStage[];

/** Returns the targets of an escalation, in order. */
export function escalationTargets(escalateTo: EscalateTo | undefined): string[] {
  if (escalateTo === undefined) return [];
  return typeof escalateTo === 'string' ? [escalateTo] : escalateTo.map(({ to }) => to);
}
