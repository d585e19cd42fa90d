import type { RequiredReason } from '../../../machines/domain/task.ts';
import type { EscalateTo } from '../../../machines/governance/escalation-targets.ts';
import type { Quorum } from '../../../machines/governance/quorum.ts';
import type { AlignmentSettings } from '../alignment/alignment.ts';
import type { DeniedTool } from '../guardrails/guardrails.ts';
import type { RuleTerms } from './rule-lists.ts';

/**
 * Policy settings from `security` in `service.yaml` (docs/contract/configuration.md); durations are in milliseconds.
 */
export interface PolicySettings {
  defer: DeferSettings;
  step_up: StepUpSettings;
  intent_alignment: AlignmentSettings;
  guardrails: { enabled: boolean; denied_tools: readonly (string | DeniedTool)[] };
  modify: { enabled: boolean; tools: Record<string, RuleTerms[]> };
  policy: { mode: 'enforce' | 'shadow'; environment: string[] };
}

/** Tools whose calls are held, with their approvers and timeouts. */
export interface DeferSettings {
  enabled: boolean;
  bind_approver: boolean;
  on_reject: 'fail' | 'tool_result';
  on_timeout: 'fail' | 'tool_result';
  default_approvers: string[];
  remember?: { max_time: number; max_uses: number } | undefined;
  tools: Record<string, (DeferredTool | ReleasingRule)[]>;
}

/** Calls that need no approval. */
interface ReleasingRule extends RuleTerms {
  allow: true;
}

export interface DeferredTool extends Omit<RuleTerms, 'allow'> {
  to: string[];
  timeout: number;
  context_template: string;
  approvers: string[];
  quorum: Quorum;
  never_remember?: boolean;
  four_eyes: boolean;
  remind: boolean;
  escalate_to?: EscalateTo | undefined;
  require_reason?: RequiredReason | undefined;
  require_passkey?: boolean | undefined;
  edit: boolean;
  display?: readonly string[] | undefined;
  mention?: boolean | undefined;
}

/** Tools that require a stronger sign-in, and the levels from weak to strong. */
export interface StepUpSettings {
  enabled: boolean;
  acr_hierarchy: string[];
  tools: Record<string, ({ acr: string } & RuleTerms)[]>;
}
