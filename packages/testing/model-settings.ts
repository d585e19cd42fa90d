import { formatDuration } from '../../src/machines/duration.ts';
import type { ModelRules } from './model-command.ts';

/** Returns the `service.yaml` settings that hold a tool's calls by the rules of a reference model. */
export function settingsOf(rules: ModelRules, tool: string) {
  const { approvers, quorum, fourEyes, bindApprover, onReject, onRestart, timeout } = rules;
  const { requireReason, edit, onTimeout = 'fail' } = rules;
  const held = {
    to: 'channel:console:*',
    timeout: formatDuration(timeout),
    quorum,
    four_eyes: fourEyes,
    ...(edit === undefined ? {} : { edit }),
    ...(requireReason === undefined ? {} : { require_reason: requireReason }),
    ...(approvers === null ? {} : { approvers: [...approvers] }),
  };
  const layer = {
    bind_approver: bindApprover,
    on_reject: onReject,
    on_timeout: onTimeout,
    on_restart: onRestart,
  };
  return { security: { defer: { enabled: true, ...layer, tools: { [tool]: held } } } };
}
