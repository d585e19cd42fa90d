import { presentDecisions } from '../../http/wire/decision-record-json.ts';
import type { CredentialProvider } from '../../machines/governance/ruling.ts';
import type { DecisionRecord } from '../../machines/task/task.ts';
import type { ExplainedLayer } from './explanation.ts';

/** Facts about the layers in addition to their records. */
export interface LayerNotes {
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
export function explainLayers(
  records: readonly DecisionRecord[],
  notes: LayerNotes,
): ExplainedLayer[] {
  const said = presentDecisions(records).map(
    ({ layer, decision, reason, duration_ms }): ExplainedLayer =>
      notes.isIntentUnknown && layer === 'intent_alignment' && decision === 'allow'
        ? notAsked(layer, 'add --message')
        : { layer, decision, reason, duration_ms },
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
