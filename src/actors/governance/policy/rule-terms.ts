import { optionTerms } from '../../../machines/domain/rule-options.ts';
import type { WaitTerms } from '../../../machines/domain/task.ts';
import { escalationTargets } from '../../../machines/governance/escalation-targets.ts';
import { approvalsIn, deciders } from '../../../machines/governance/quorum.ts';
import type { PolicySettings } from '../settings/policy-settings.ts';
import type { HoldRule } from '../settings/schema-defer.ts';

/** Returns the terms that a rule states, with the settings of its layer; those of the callers are the policy's. */
export function ruleTerms(
  rule: HoldRule,
  defer: Omit<PolicySettings['defer'], 'tools'>,
): Omit<WaitTerms, 'separation' | 'distinctCallers'> {
  return {
    timeout: rule.timeout,
    ...deciders(rule, defer.default_approvers),
    bindApprover: defer.bind_approver,
    onReject: defer.on_reject,
    ...(defer.on_timeout === 'fail' ? {} : { onTimeout: defer.on_timeout }),
    escalateTo: escalationTargets(rule.escalate_to)[0] ?? null,
    ...(typeof rule.escalate_to === 'object' ? { escalations: rule.escalate_to } : {}),
    ...optionTerms(rule),
    ...memoryOf(rule, defer),
  };
}

/**
 * One approval of several is not remembered, because the others did not give it. One that needs a passkey is not, because
 * the passkey confirms one call.
 */
function memoryOf(
  { never_remember: isNever, quorum, require_passkey: isConfirmed }: HoldRule,
  { remember }: Pick<PolicySettings['defer'], 'remember'>,
): Pick<WaitTerms, 'remember'> {
  if (remember === undefined || isNever || isConfirmed === true) return {};
  if (approvalsIn(quorum) > 1) return {};
  return { remember: { time: remember.max_time, uses: remember.max_uses } };
}
