import type { Finding } from '../../../machines/domain/finding.ts';
import { redactSecrets } from '../credentials/credentials.ts';
import type { Guardrails } from '../guardrails/guardrails.ts';
import type { Modify } from '../modify/modify.ts';

/** Result of the output rules for a string; `rewrites` are the numbers (from 1) of the applied MODIFY rules. */
export type CheckedOutput = { findings: Finding[]; rewrites: number[] } & (
  | { kind: 'passed'; text: string }
  | { kind: 'withheld'; reason: string }
);

/** Layers that check output; `null` for a layer that is off. */
export interface OutputLayers {
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
