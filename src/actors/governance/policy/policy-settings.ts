import type { AlignmentSettings } from '../alignment/alignment.ts';

/** What a policy reads of `security` in `service.yaml` (docs/contract/configuration.md); durations are milliseconds. */
export interface PolicySettings {
  defer: DeferSettings;
  step_up: StepUpSettings;
  intent_alignment: AlignmentSettings;
}

/** Which tools wait, for whom and how long. */
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

/** Which tools ask for a stronger sign-in, and the levels from weak to strong. */
export interface StepUpSettings {
  enabled: boolean;
  acr_hierarchy: string[];
  tools: Record<string, { acr: string }>;
}
