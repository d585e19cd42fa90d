import { compileGuardrails, type GuardrailRules } from '../guardrails/guardrails.ts';
import { compileModify, type ModifyRules } from '../modify/modify.ts';
import { type CheckedOutput, checkOutput, type OutputLayers } from './check-output.ts';

/** A string to check in a worker. Contains source rules, since compiled rules cannot be transferred to a worker. */
export interface LargeOutput {
  tool: string;
  text: string;
  secrets: readonly string[];
  /** `null` for a layer that is off. */
  rules: { guardrails: GuardrailRules | null; modify: ModifyRules | null };
}

let compiled: { written: string; layers: OutputLayers } | undefined;

/** Applies the output rules like `checkOutput`; runs in a worker, which compiles each set of rules once. */
export function checkLargeOutput({ tool, text, secrets, rules }: LargeOutput): CheckedOutput {
  const written = JSON.stringify(rules);
  if (compiled?.written !== written) compiled = { written, layers: layersOf(rules) };
  return checkOutput(tool, text, secrets, compiled.layers);
}

function layersOf(rules: LargeOutput['rules']): OutputLayers {
  const guardrails = rules.guardrails === null ? null : compileGuardrails(rules.guardrails);
  const modify = rules.modify === null ? null : compileModify(rules.modify);
  if (guardrails?.ok === false || modify?.ok === false) {
    throw new Error('the rules for output do not compile in a worker');
  }
  return { guardrails: guardrails?.guardrails ?? null, modify: modify?.modify ?? null };
}
