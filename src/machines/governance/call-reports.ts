import type { TaskFact } from '../task/facts.ts';
import type { ArgumentChange, Layer } from '../task/task.ts';
import { factsOfFindings } from './facts-of-findings.ts';
import type { Refusal } from './finding.ts';
import { findDrift } from './intent-alignment.ts';
import type { IntentVerdict, Modification, Timed } from './ruling.ts';
import { stepUpReason } from './step-up.ts';
import type { StepUpRequired, ToolCallContext } from './tool-call-setup.ts';

/** Returns a denial by a layer, or by the layer that the refusal names; `took` is milliseconds. */
export function denialOf(layer: Layer, refusal: Refusal | null, took: number) {
  return { layer: refusal?.layer ?? layer, text: refusal?.text ?? 'governance failed', took };
}

/** Reports the rules that a call was refused by. */
export function findingsOf({ call }: ToolCallContext, refusal: Refusal | null): TaskFact[] {
  return factsOfFindings(call.tool, refusal?.findings ?? []);
}

/** Returns why MODIFY refused a call; `null` when it did not. */
export function refusalOf(modification: Modification): Refusal | null {
  return modification.kind === 'refused' ? modification.refusal : null;
}

/** Returns how long the policy and the comparison with the request took together, in milliseconds. */
export function tookToJudge({ rules }: ToolCallContext, { took }: Timed<IntentVerdict>): number {
  return Math.round((rules.took + took) * 1_000) / 1_000;
}

/** Reports how well a call fits the request, and the drift of the task. */
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

/** Reports the assurance level that a call demands. */
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

/** Names the rules of MODIFY that rewrote a call. */
export function namesOf(modification: Modification): string {
  const rules = modification.kind === 'modified' ? modification.rules : [];
  return `${rules.length === 1 ? 'rule' : 'rules'} ${rules.join(', ')}`;
}

/** Returns what MODIFY changed of the arguments. */
export function changesOf(modification: Modification): ArgumentChange[] {
  return modification.kind === 'modified' ? modification.changes : [];
}

/** Reports the rules of MODIFY that rewrote a call. */
export function modifiedFacts({ call, modification }: ToolCallContext): TaskFact[] {
  if (modification.kind !== 'modified') return [];
  const { rules } = modification;
  return [{ type: 'call.modified', tool: call.tool, part: 'arguments', rules }];
}
