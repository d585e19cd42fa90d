import { markOfCall } from '../domain/call-mark.ts';
import type { TaskFact } from '../domain/facts.ts';
import type { Refusal } from '../domain/finding.ts';
import type { UsedGrant } from '../domain/grant.ts';
import type { ArgumentChange, Layer } from '../domain/task.ts';
import { factsOfFindings } from './facts-of-findings.ts';
import { findDrift } from './intent-alignment.ts';
import type { IntentVerdict, Modification, Timed } from './ruling.ts';
import { stepUpReason } from './step-up.ts';
import type { StepUpRequired, ToolCallContext } from './tool-call-setup.ts';

/** Builds the denial of a layer, or of the layer named in the refusal; `took` is in milliseconds. */
export function denialOf(layer: Layer, refusal: Refusal | null, took: number) {
  const rule = refusal?.rule;
  return {
    ...{ layer: refusal?.layer ?? layer, text: refusal?.text ?? 'governance failed', took },
    ...(rule === undefined ? {} : { rule }),
  };
}

/** Reports the rules that refused a call. */
export function findingsOf({ call }: ToolCallContext, refusal: Refusal | null): TaskFact[] {
  return factsOfFindings(call.tool, refusal?.findings ?? []);
}

/** Returns the reason why MODIFY refused a call; `null` if it did not. */
export function refusalOf(modification: Modification): Refusal | null {
  return modification.kind === 'refused' ? modification.refusal : null;
}

/** Returns the total milliseconds of the policy and the intent comparison. */
export function tookToJudge({ rules }: ToolCallContext, { took }: Timed<IntentVerdict>): number {
  return Math.round((rules.took + took) * 1_000) / 1_000;
}

/** Reports a call's intent score and the task's drift. */
export function intentFacts(
  { call, rules, scores }: ToolCallContext,
  { decision, score, reason }: IntentVerdict,
): TaskFact[] {
  const judged: TaskFact = { type: 'intent.judged', tool: call.tool, decision, score, reason };
  if (rules.drift === null || score === null) return [judged];
  const drift = findDrift([...scores, score], rules.drift);
  if (drift === null) return [judged];
  return [judged, { type: 'intent.drifted', tool: call.tool, reason: drift.reason }];
}

/** Reports the assurance level that a call requires. */
export function stepUpRequired({ call, requester, rules }: ToolCallContext): StepUpRequired {
  const requiredAcr = rules.requiredAcr ?? '';
  return {
    type: 'stepUp.required',
    tool: call.tool,
    requiredAcr,
    presentedAcr: requester?.acr ?? null,
    reason: stepUpReason(requester, requiredAcr),
  };
}

/** Lists the MODIFY rules that rewrote a call. */
export function namesOf(modification: Modification): string {
  const rules = modification.kind === 'modified' ? modification.rules : [];
  return `${rules.length === 1 ? 'rule' : 'rules'} ${rules.join(', ')}`;
}

/** Returns the argument changes made by MODIFY. */
export function changesOf(modification: Modification): ArgumentChange[] {
  return modification.kind === 'modified' ? modification.changes : [];
}

/** Reports the MODIFY rules that rewrote a call. */
export function modifiedFacts({ call, modification }: ToolCallContext): TaskFact[] {
  if (modification.kind !== 'modified') return [];
  const { rules } = modification;
  return [{ type: 'call.modified', tool: call.tool, part: 'arguments', rules }];
}

/** Reports the grant that released a call. */
export function usedGrant({ call }: ToolCallContext, grant: UsedGrant | null): TaskFact[] {
  return grant === null
    ? []
    : [{ type: 'grant.used', call: markOfCall(call), tool: call.tool, grant }];
}
