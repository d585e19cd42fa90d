import type { AlignmentSettings } from '../alignment/alignment.ts';

/**
 * Policy settings from `security` in `service.yaml` (docs/contract/configuration.md); durations are in milliseconds.
 */
export interface PolicySettings {
  defer: DeferSettings;
  step_up: StepUpSettings;
  intent_alignment: AlignmentSettings;
}

/** Tools whose calls are held, with their approvers and timeouts. */
export interface DeferSettings {
  enabled: boolean;
  bind_approver: boolean;
  on_reject: 'fail' | 'tool_result';
  default_approvers: string[];
  tools: Record<string, DeferredTool>;
}

interface DeferredTool {
  to: string[];
  timeout: number;
  context_template: string;
  approvers: string[];
  quorum: number;
  four_eyes: boolean;
  remind: boolean;
  escalate_to?: string | undefined;
}

/** Tools that require a stronger sign-in, and the levels from weak to strong. */
export interface StepUpSettings {
  enabled: boolean;
  acr_hierarchy: string[];
  tools: Record<string, { acr: string }>;
}
