import { markOfCall } from '../domain/call-mark.ts';
import type { TaskFact } from '../domain/facts.ts';
import type { Refusal } from '../domain/finding.ts';
import type { UsedGrant } from '../domain/grant.ts';
import type { Layer } from '../domain/task.ts';
import { factsOfFindings } from './facts-of-findings.ts';
import { findDrift } from './intent-alignment.ts';
import type { Modification } from './ruling.ts';
import { stepUpReason } from './step-up.ts';
import { callToRun, type StepUpRequired, type ToolCallContext } from './tool-call-setup.ts';

/** Builds the denial at a layer, by it or by the layer named in the refusal; `took` is in milliseconds. */
export function denialOf(
  { call }: ToolCallContext,
  at: Layer,
  { refusal, took }: { refusal: Refusal | null; took: number },
) {
  const { layer = at, text = 'governance failed', rule, findings = [] } = refusal ?? {};
  const facts = factsOfFindings(call.tool, findings);
  return { at, layer, text, took, facts, ...(rule === undefined ? {} : { rule }) };
}

/** Returns the reason why MODIFY refused a call; `null` if it did not. */
export function refusalOf(modification: Modification): Refusal | null {
  return modification.kind === 'refused' ? modification.refusal : null;
}

/** Reports the rules in shadow that would have applied. */
export function shadowFacts({ call, rules }: ToolCallContext): TaskFact[] {
  return (rules.shadows ?? []).map((shadow) => ({
    type: 'rule.shadowed',
    tool: call.tool,
    ...shadow,
  }));
}

/** Reports a call's intent score and the task's drift; nothing for a call that was not compared. */
export function intentFacts({ call, rules, scores, intent }: ToolCallContext): TaskFact[] {
  if (intent === null) return [];
  const { decision, score, reason } = intent;
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

/** Reports the MODIFY rules that rewrote a call. */
export function modifiedFacts(context: ToolCallContext): TaskFact[] {
  const { call, modification } = context;
  if (modification.kind !== 'modified' || callToRun(context) === call) return [];
  const { rules } = modification;
  return [{ type: 'call.modified', tool: call.tool, part: 'arguments', rules }];
}

/** Reports the grant that released a call. */
export function usedGrant(context: ToolCallContext, grant: UsedGrant | null): TaskFact[] {
  const call = callToRun(context);
  return grant === null
    ? []
    : [{ type: 'grant.used', call: markOfCall(call), tool: call.tool, grant }];
}
