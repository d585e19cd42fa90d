import type * as z from 'zod';
import type { RuleTerms } from '../policy/rule-lists.ts';
import type { securitySchema } from './schema-security.ts';

type Security = z.output<typeof securitySchema>;

/**
 * Policy settings from `security` in `service.yaml` (docs/contract/configuration.md); durations are in milliseconds.
 */
export interface PolicySettings
  extends Pick<Security, 'defer' | 'step_up' | 'intent_alignment' | 'limits' | 'effects'> {
  guardrails: Pick<Security['guardrails'], 'enabled' | 'denied_tools'>;
  modify: { enabled: boolean; tools: Record<string, RuleTerms[]> };
  policy: Pick<Security['policy'], 'mode' | 'environment'>;
}
