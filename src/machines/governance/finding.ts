import type { Layer } from '../task/task.ts';

/** A rule that had something to say about a message, a call or its result. */
export interface Finding {
  /** Where the rule stands: a list of the guardrails, or the check that every call passes. */
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
  /** Names the rule, such as `deny_commands[2]`; never what it matched. */
  rule: string;
}

/** Why something may not go on, with the rules that said so. */
export interface Refusal {
  text: string;
  findings: Finding[];
  /** The layer that it counts as; that which asked when absent. */
  layer?: Layer;
  /** True when the call does not fit what there is, so that whoever asked may ask otherwise: no rule denies it. */
  isMisfit?: true;
}

/** What would run is not what its approvers saw (docs/contract/governance.md). */
export const changedSinceApproval = 'what would run has changed since the approval was requested';

/** What a layer that broke, or was never asked, amounts to: a refusal that says so. */
export function governanceFailed(what: string): Refusal {
  return {
    text: `governance failed: ${what}`,
    findings: [{ gate: 'governance', decision: 'deny', rule: what }],
  };
}
