import type { Finding } from '../../../machines/governance/finding.ts';
import { redactSecrets } from '../credentials/credentials.ts';
import type { Guardrails } from '../guardrails/guardrails.ts';
import type { Modify } from '../modify/modify.ts';

/** What the rules for output made of a text; `rewrites` are the numbers of MODIFY rules, from 1. */
export type CheckedOutput = { findings: Finding[]; rewrites: number[] } & (
  | { kind: 'passed'; text: string }
  | { kind: 'withheld'; reason: string }
);

/** The layers that look at output; one that is `null` is off. */
export interface OutputLayers {
  guardrails: Guardrails | null;
  modify: Modify | null;
}

/**
 * Applies the rules for output to a text of a tool (docs/contract/governance.md): what is blocked is looked for in the
 * original, then the call's own credentials go, then what is to be redacted, then MODIFY has its turn. Throws a
 * ModifyError.
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
    // What the rules redact may be half of a credential, so they only ever see a text without one.
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
