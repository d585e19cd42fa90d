import type { Finding } from '../../../machines/domain/finding.ts';
import { WorkerPool } from '../../worker-pool.ts';
import { redactSecrets } from '../credentials/credentials.ts';
import {
  compileGuardrails,
  type GuardrailRules,
  type Guardrails,
} from '../guardrails/guardrails.ts';
import { compileModify, type Modify, type ModifyRules } from '../modify/modify.ts';

/** A text to check in a worker. Contains source rules, since compiled rules cannot be transferred to a worker. */
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

/**
 * Checks a tool's result or error text and returns it, rewritten by the rules, or withholds it. Rejects with a
 * ModifyError, and with an AbortError once `signal` aborts.
 */
export type OutputCheck = (
  tool: string,
  text: string,
  secrets: readonly string[],
  signal: AbortSignal,
) => Promise<CheckedOutput>;

/** Maximum characters of a text that is checked inline: this takes a few milliseconds, less than starting a worker. */
const small = 16 * 1024;

/**
 * Shared by all agents of the process and used only for output checks, so no tool can exhaust them; the queue is
 * unlimited.
 */
const workers = new WorkerPool({ atOnce: 2, waiting: Number.POSITIVE_INFINITY });

/** Creates the check of tool output; a long text is checked in a worker, so that other work is not blocked. */
export function createOutputCheck(layers: OutputLayers): OutputCheck {
  const rules: LargeOutput['rules'] = {
    guardrails: layers.guardrails?.rules ?? null,
    modify: layers.modify?.rules ?? null,
  };
  const isOff = rules.guardrails === null && rules.modify === null;
  return async (tool, text, secrets, signal) => {
    if (text.length <= small || (isOff && secrets.length === 0)) {
      return checkOutput(tool, text, secrets, layers);
    }
    const input: LargeOutput = { tool, text, secrets, rules };
    const checked = await workers.run<Parameters<typeof checkLargeOutput>[0]>({
      from: import.meta,
      module: './check-large-output',
      exported: 'checkLargeOutput',
      input,
      signal,
    });
    return checked as ReturnType<typeof checkLargeOutput>;
  };
}

/** Result of the output rules for a text; `rewrites` are the numbers (from 1) of the applied MODIFY rules. */
type CheckedOutput = { findings: Finding[]; rewrites: number[] } & (
  | { kind: 'passed'; text: string }
  | { kind: 'withheld'; reason: string }
);

/** Layers that check output; `null` for a layer that is off. */
interface OutputLayers {
  guardrails: Guardrails | null;
  modify: Modify | null;
}

/**
 * Applies the output rules to a tool's text (docs/contract/governance.md): block rules on the original, then removal of
 * the call's own credentials, then redaction, then MODIFY. Throws a ModifyError.
 */
export function checkOutput(
  tool: string,
  original: string,
  secrets: readonly string[],
  { guardrails, modify }: OutputLayers,
): CheckedOutput {
  const clean = redactSecrets(original, secrets);
  let text = clean;
  let findings: Finding[] = [];
  if (guardrails !== null) {
    let checked = guardrails.checkOutput(original);
    // A redact rule could match half of a credential, so redaction only ever sees the text without credentials.
    if (checked.kind !== 'blocked' && clean !== original) checked = guardrails.checkOutput(clean);
    findings = checked.findings;
    if (checked.kind === 'blocked') {
      return { kind: 'withheld', reason: checked.denial, findings, rewrites: [] };
    }
    text = checked.text;
  }
  const rewritten = modify?.modifyOutput(tool, text) ?? { text, applied: [] };
  return { kind: 'passed', text: rewritten.text, findings, rewrites: rewritten.applied };
}
