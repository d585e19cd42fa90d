import { formatDuration } from '../../machines/duration.ts';
import type { Ruling } from '../../machines/governance/ruling.ts';
import type { Deferral, ToolCall } from '../../machines/task/task.ts';
import { explainLayers, type LayerNotes } from './explain-layers.ts';
import type { ExplainedDeferral, Explanation } from './explanation.ts';

export function explanationOf(
  asked: ToolCall,
  ruling: Ruling,
  { outputRules, isIntentUnknown }: Pick<LayerNotes, 'outputRules' | 'isIntentUnknown'>,
): Explanation {
  const mayRun = ruling.kind === 'allow' || ruling.kind === 'defer';
  const call = mayRun ? ruling.call : asked;
  const credential = mayRun ? ruling.credential : null;
  const notes = { isIntentUnknown, mayRun, credential, outputRules };
  const layers = explainLayers(ruling.records, notes);
  return {
    tool: call.tool,
    ...outcomeOf(ruling),
    arguments: call.args,
    args_sha256: call.argsSha256,
    layers,
    ...(ruling.kind === 'defer' ? { deferral: deferralOf(ruling.deferral) } : {}),
    ...(credential === null ? {} : { credential }),
    complete: !layers.some(
      ({ layer, decision }) => layer === 'intent_alignment' && decision === 'not_asked',
    ),
  };
}

function outcomeOf(ruling: Ruling): Pick<Explanation, 'outcome' | 'text'> {
  switch (ruling.kind) {
    case 'allow':
      return { outcome: 'run' };
    case 'deny':
    case 'misfit':
      return { outcome: 'deny', text: ruling.text };
    case 'stepUp':
      return {
        outcome: 'step_up',
        text: `sign in again with acr "${ruling.requiredAcr}"; ${ruling.text}`,
      };
    case 'defer':
      return { outcome: 'defer' };
  }
}

function deferralOf(deferral: Deferral): ExplainedDeferral {
  return {
    to: deferral.to,
    timeout: formatDuration(deferral.timeout),
    approvers: deferral.approvers,
    quorum: deferral.quorum,
    four_eyes: deferral.fourEyes,
    context: deferral.context,
    remind: deferral.remindAt !== null,
    escalate_to: deferral.escalateTo,
  };
}
