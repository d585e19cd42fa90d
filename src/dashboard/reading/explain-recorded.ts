import type { Policy } from '../../actors/governance/governance.ts';
import type { CallExplanationJson, RulingJson } from '../../http/wire/dashboard/explain-json.ts';
import type { RecordedCall } from '../../http/wire/dashboard/recorded-calls.ts';
import type { DecisionJson } from '../../http/wire/dashboard/task-detail-json.ts';
import type { Refusal } from '../../machines/domain/finding.ts';
import { type ExplainPorts, explainCall } from './explain-call.ts';
import type { ExplainedLayer } from './explanation.ts';

/**
 * Compares the outcome that a recorded call would have now with its recorded outcome. Runs the same chart as real calls
 * but asks no tool, model or embedder. Layers whose input was not recorded are reported as not evaluated.
 */
export async function explainRecorded(
  call: RecordedCall,
  ports: ExplainPorts,
): Promise<CallExplanationJson> {
  const unknown = unknownOf(call, ports);
  const policy = withoutUnknown(ports.policy, unknown, call.args === null);
  const explanation = await explainCall(
    { tool: call.tool, args: call.args ?? {}, acr: call.acr, message: null, origin: call.origin },
    { ...ports, policy },
  );
  const layers = explanation.layers
    .filter(({ layer }) => layer !== 'credentials' && layer !== 'output')
    .map((said) => layerNow(said, unknown));
  const before = rulingBefore(call.before);
  const { outcome, text, deferral } = explanation;
  return {
    task: call.task,
    call: call.id,
    tool: call.tool,
    arguments: call.args,
    before,
    now: {
      outcome,
      layers,
      ...(text === undefined ? {} : { text }),
      ...(deferral === undefined ? {} : { to: deferral.to }),
      complete: layers.every(({ decision }) => decision !== 'not_evaluated'),
    },
    changed: before.outcome !== outcome || differs(before.layers, layers),
  };
}

/** The reason why a layer cannot be evaluated for a call, by layer name. */
type Unknown = Map<string, string>;

function unknownOf(call: RecordedCall, { policy, scorer }: ExplainPorts): Unknown {
  const unknown: Unknown = new Map();
  const { requiredAcr } = policy.rulesFor({
    id: call.id,
    tool: call.tool,
    args: {},
    argsSha256: '',
  });
  if (call.args === null) {
    const reason =
      'the arguments of the call were not recorded; audit.capture records those of later calls';
    unknown.set('intent_alignment', reason).set('modify', reason);
  }
  if (call.isRewritten) {
    unknown.set('modify', 'the recorded arguments are those after MODIFY');
  }
  if (scorer !== null)
    unknown.set('intent_alignment', 'it would call an embedder over the network');
  if (requiredAcr !== null && call.acr === null) {
    unknown.set(
      'step_up',
      `acr ${requiredAcr} is required; the level of the caller was not recorded`,
    );
  }
  return unknown;
}

/** Removes rules about unrecorded parts of a call; rules about the tool itself stay. */
function withoutUnknown(policy: Policy, unknown: Unknown, isWithoutArguments: boolean): Policy {
  return {
    ...policy,
    rulesFor: (call, facts) => {
      const rules = policy.rulesFor(call, facts);
      return {
        ...rules,
        refusal: isWithoutArguments ? ofTool(rules.refusal) : rules.refusal,
        requiredAcr: unknown.has('step_up') ? null : rules.requiredAcr,
      };
    },
    modify: (call, facts) =>
      isWithoutArguments ? { kind: 'unchanged' } : policy.modify(call, facts),
  };
}

/** A schema violation caused only by missing arguments is no information about the call. */
function ofTool(refusal: Refusal | null): Refusal | null {
  const isOfArguments = refusal?.findings.every(({ gate }) => gate === 'arguments') === true;
  return refusal?.isMisfit === true && isOfArguments ? null : refusal;
}

function layerNow({ layer, decision, reason }: ExplainedLayer, unknown: Unknown) {
  const why = unknown.get(layer);
  if (why !== undefined && ['allow', 'modify', 'not_asked'].includes(decision)) {
    return { layer, decision: 'not_evaluated', reason: why };
  }
  const said = decision === 'not_asked' ? 'not_evaluated' : decision;
  return { layer, decision: said, reason: reason ?? '' };
}

function rulingBefore(said: readonly DecisionJson[]): RulingJson {
  const layers = said
    .filter(({ layer }) => layer !== 'credentials' && layer !== 'output')
    .map(({ layer, decision, reason }) => ({ layer, decision, reason }));
  const ends = layers.find(({ decision }) => ['deny', 'step_up', 'defer'].includes(decision));
  return { outcome: ends?.decision ?? 'run', layers };
}

function differs(before: RulingJson['layers'], now: RulingJson['layers']): boolean {
  return now.some(({ layer, decision }) => {
    if (decision === 'not_evaluated' || decision === 'not_reached') return false;
    return before.find((said) => said.layer === layer)?.decision !== decision;
  });
}
