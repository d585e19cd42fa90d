import type { Layer } from './task.ts';

/** A rule's match on a message, a call or a call's result. */
export interface Finding {
  /** The source of the rule: a guardrail list, or a check that applies to every call. */
  gate:
    | 'denied_tools'
    | 'deny_commands'
    | 'deny_prompts'
    | 'deny_output'
    | 'redact'
    | 'tool'
    | 'arguments'
    | 'governance';
  decision: 'deny' | 'block' | 'redact';
  /** Name of the rule, such as `deny_commands[2]`; never the matched text. */
  rule: string;
}

/** The reason for a refusal, and the rules that caused it. */
export interface Refusal {
  text: string;
  findings: Finding[];
  /** The layer that the refusal is attributed to; defaults to the layer that evaluated it. */
  layer?: Layer;
  /** The rule of the configuration that denies, such as `guardrails.denied_tools[1]`; absent for a pattern. */
  rule?: string;
  /** True if the call does not match its tool or schema, so the model may correct it. No rule denies it. */
  isMisfit?: true;
}

/** What would run is not what the approvers saw (docs/contract/governance.md). */
export const changedSinceApproval = 'what would run has changed since the approval was requested';

/** Builds the refusal for a layer that failed or was never evaluated. */
export function governanceFailed(what: string): Refusal {
  return {
    text: `governance failed: ${what}`,
    findings: [{ gate: 'governance', decision: 'deny', rule: what }],
  };
}
