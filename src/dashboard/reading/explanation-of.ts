import { presentDecisions } from '../../http/wire/decision-record.ts';
import { optionsJson } from '../../machines/domain/rule-options.ts';
import type { DecisionRecord, Deferral, ToolCall } from '../../machines/domain/task.ts';
import { formatDuration } from '../../machines/duration.ts';
import type { CredentialProvider, Ruling } from '../../machines/governance/ruling.ts';
import type { ExplainedDeferral, ExplainedLayer, Explanation } from './explanation.ts';

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
  const shadow = ruling.facts.flatMap((fact) =>
    fact.type === 'rule.shadowed' ? [{ rule: fact.rule, would: fact.would }] : [],
  );
  return {
    tool: call.tool,
    ...outcomeOf(ruling),
    arguments: call.args,
    args_sha256: call.argsSha256,
    layers,
    ...(ruling.kind === 'defer' ? { deferral: deferralOf(ruling.deferral) } : {}),
    ...(shadow.length === 0 ? {} : { shadow }),
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
    case 'joined':
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
    ...(deferral.alsoBy === undefined ? {} : { also_by: deferral.alsoBy.map((list) => [...list]) }),
    quorum: deferral.quorum,
    ...(deferral.quorumOf === undefined ? {} : { quorum_of: { ...deferral.quorumOf } }),
    four_eyes: false,
    ...optionsJson(deferral),
    context: deferral.context,
    remind: deferral.remindAt !== null,
    escalate_to: deferral.escalateTo,
    ...(deferral.escalations === undefined
      ? {}
      : {
          escalations: deferral.escalations.map(({ to, after }) => ({
            ...{ to, after: formatDuration(after) },
          })),
        }),
  };
}

/** Facts about the layers in addition to their records. */
interface LayerNotes {
  /** True if intent alignment is on and its embedder could not be asked. */
  isIntentUnknown: boolean;
  /** True if the call would run, immediately or after a release. */
  mayRun: boolean;
  credential: CredentialProvider | null;
  /** Rules that check the tool's output. */
  outputRules: readonly string[];
}

const layersThatRule = ['intent_alignment', 'step_up', 'modify', 'defer'];

/**
 * Lists every layer in evaluation order, with the decisions of the layers that made one (docs/contract/governance.md).
 */
function explainLayers(records: readonly DecisionRecord[], notes: LayerNotes): ExplainedLayer[] {
  const said = presentDecisions(records).map(
    ({ layer, decision, reason, duration_ms, rule }): ExplainedLayer =>
      notes.isIntentUnknown && layer === 'intent_alignment' && decision === 'allow'
        ? notAsked(layer, 'add --message')
        : { layer, decision, reason, duration_ms, ...(rule === undefined ? {} : { rule }) },
  );
  const silent = layersThatRule
    .filter((name) => said.every(({ layer }) => layer !== name))
    .map(notReached);
  return [...said, ...silent, ...layersOfRun(notes)];
}

function layersOfRun({ mayRun, credential, outputRules }: LayerNotes): ExplainedLayer[] {
  if (!mayRun) return ['credentials', 'output'].map(notReached);
  const made = credential === null ? 'the call needs none' : `${credential} makes them for the run`;
  const looks = outputRules.length === 0 ? 'no rule is configured' : outputRules.join(', ');
  return [notAsked('credentials', made), notAsked('output', looks)];
}

function notAsked(layer: string, reason: string): ExplainedLayer {
  return { layer, decision: 'not_asked', reason, duration_ms: null };
}

function notReached(layer: string): ExplainedLayer {
  return { layer, decision: 'not_reached', reason: null, duration_ms: null };
}
