import { splitTarget } from '../../machines/channels/approval-notice.ts';
import { formatDuration } from '../../machines/duration.ts';
import { normaliseEmail } from '../../machines/governance/email.ts';
import { escalationTargets } from '../../machines/governance/escalation-targets.ts';
import { builtinAdapters } from './check-channel-settings.ts';
import { errorAt, type Finding, type Path, warningAt } from './config-problem.ts';
import { configuredAdapters } from './schema-channels.ts';
import type { ServiceConfig } from './service-schema.ts';
import type { holdingRules } from './tool-rules.ts';

/** One rule of `security.defer.tools`, with its path. */
export interface DeferEntry {
  rule: ReturnType<typeof holdingRules>[number]['rule'];
  path: Path;
  config: ServiceConfig;
  isWritten: (path: Path) => boolean;
}

const defaultTimeout: Path = ['security', 'defer', 'default_timeout'];

/** Maximum wait for a conversation that came through a chat adapter, in milliseconds (docs/contract/governance.md). */
const channelWindow = 6 * 60 * 1000;

/** Adapters that can request decisions once they are in `channels` (docs/contract/chat.md). */
const channelAdapters: readonly string[] = configuredAdapters;

/**
 * Checks the targets of a held call, and that chats can wait for the decision (docs/contract/governance.md,
 * docs/contract/chat.md).
 */
export function checkTargets(entry: DeferEntry): Finding[] {
  const { rule, path, config, isWritten } = entry;
  const to: Path = [...path, 'to'];
  const isList = isWritten([...to, 0]);
  return [
    ...rule.to.flatMap((target, index) =>
      checkTarget(target, isList ? [...to, index] : to, config),
    ),
    ...escalationTargets(rule.escalate_to).flatMap((target, index) =>
      checkTarget(
        target,
        [...path, 'escalate_to', ...(typeof rule.escalate_to === 'string' ? [] : [index, 'to'])],
        config,
      ),
    ),
    ...checkStages(entry),
    ...checkWindow(entry),
  ];
}

/** Checks that a target can be notified. */
export function checkTarget(to: string, path: Path, config: ServiceConfig): Finding[] {
  const { adapter, target } = splitTarget(to);
  if (builtinAdapters.includes(adapter)) return [];
  if (adapter === 'telegram' && !/^-?[1-9]\d{0,15}$/.test(target)) {
    const message = '{value} is no Telegram chat; write the id of the chat, such as -1001234567890';
    return [errorAt(path, message)];
  }
  if (adapter === 'email' && target !== '*' && normaliseEmail(target) === null) {
    return [
      errorAt(
        path,
        '{value} is no email; write channel:email:name@example.com, or channel:email:*',
      ),
    ];
  }
  if (!channelAdapters.includes(adapter)) {
    const known = [...builtinAdapters, ...channelAdapters].join(', ');
    return [warningAt(path, `the adapter of {value} is not one of ${known}, so ${direct}`)];
  }
  const findings: Finding[] = [];
  if (!config.channels.includes(adapter)) {
    const message = `the ${adapter} adapter is not in channels, so ${direct}`;
    findings.push(warningAt(path, message, ['channels']));
  }
  if (adapter === 'slack' && !isSlackTarget(target)) {
    const message = `{value} is not a Slack channel, so ${direct}; write a name such as #refunds, an id, or a person such as @ann@example.com`;
    findings.push(warningAt(path, message));
  }
  return findings;
}

/** Checks that every stage of an escalation comes before the end of the wait. */
function checkStages({ rule, path }: DeferEntry): Finding[] {
  const { escalate_to: stages = [], timeout } = rule;
  if (typeof stages === 'string') return [];
  return stages.flatMap(({ after }, index) => {
    if (after < timeout) return [];
    const message = `the stage comes after the timeout of ${formatDuration(timeout)}, so it is never notified; write an earlier time`;
    return [errorAt([...path, 'escalate_to', index, 'after'], message)];
  });
}

function checkWindow({ rule, path, isWritten }: DeferEntry): Finding[] {
  const asksChat = rule.to.some((to) => channelAdapters.includes(splitTarget(to).adapter));
  if (!asksChat || rule.timeout <= channelWindow) return [];
  const own: Path = [...path, 'timeout'];
  const time = `${isWritten(own) ? 'the' : 'the default'} timeout of ${formatDuration(rule.timeout)}`;
  const remedy = isWritten(own)
    ? 'shorten it'
    : 'write timeout: 5m here, or a shorter default_timeout';
  const message = `${time} is longer than the ${formatDuration(channelWindow)} that a channel waits for an answer; ${remedy}`;
  return [warningAt(own, message, defaultTimeout)];
}

/**
 * Slack channel names consist of letters of any language, digits, hyphens and underscores; ids match as well. A person is
 * `@` and the email.
 */
function isSlackTarget(target: string): boolean {
  if (target.startsWith('@')) return normaliseEmail(target.slice(1)) !== null;
  return /^#?[\p{L}\p{M}\p{N}_-]{1,80}$/u.test(target);
}

const direct =
  'no approver is notified; the deferral holds until a direct POST to the decisions endpoint';
