import { splitTarget } from '../../machines/channels/approval-notice.ts';
import { formatDuration } from '../../machines/duration.ts';
import { effectiveApprovers, normaliseApprovers } from '../../machines/governance/approvers.ts';
import { isEmailShaped } from '../../machines/governance/email.ts';
import { builtinAdapters } from './check-channels.ts';
import type { Finding, Path } from './problem.ts';
import type { ServiceConfig } from './schema.ts';

type Defer = ServiceConfig['security']['defer'];

/** What one deferred tool is checked with. */
interface Entry {
  rule: Defer['tools'][string];
  path: Path;
  config: ServiceConfig;
}

const root = ['security', 'defer'] as const;
const defaultList: Path = [...root, 'default_approvers'];
const binding: Path = [...root, 'bind_approver'];
const providers: Path = ['auth', 'providers'];

/** How long a conversation that came through a chat adapter is waited for, in ms (document 1 section 8). */
const channelWindow = 6 * 60 * 1000;

/** Adapters that can ask for a decision once they are in `channels` (contract section 14). */
const channelAdapters = ['slack', 'webhook'];

/** Checks `security.defer`; nothing while it is off (documents 1 sections 2.4, 5 and 8). */
export function checkDefer(config: ServiceConfig): Finding[] {
  const { defer } = config.security;
  if (!defer.enabled) return [];
  const entries = Object.entries(defer.tools).map(
    ([tool, rule]): Entry => ({ rule, path: [...root, 'tools', tool], config }),
  );
  if (entries.length === 0) {
    const message =
      'defer is enabled and lists no tools; add them under tools, or set enabled: false';
    return [error([...root, 'tools'], message)];
  }
  return [
    ...checkBinding(config),
    ...checkList(defer.default_approvers, defaultList, config),
    ...entries.flatMap(checkEntry),
  ];
}

function checkEntry(entry: Entry): Finding[] {
  const { rule, path, config } = entry;
  return [
    ...checkTarget(entry, 'to'),
    ...(rule.escalate_to === undefined ? [] : checkTarget(entry, 'escalate_to')),
    ...checkList(rule.approvers, [...path, 'approvers'], config),
    ...checkQuorum(entry),
    ...checkWriteTimeout(entry),
    ...checkFourEyes(entry),
  ];
}

/** Who approves is as sure as what tells who they are: a verified email, or what callers say of themselves. */
function checkBinding({ auth, security: { defer } }: ServiceConfig): Finding[] {
  if (auth.providers.length === 0) {
    if (!defer.bind_approver) return [];
    const message =
      'without auth.providers nobody has a verified email, so only people in a chat can decide; add a provider';
    return [warning(binding, message, [providers])];
  }
  const telling = Object.entries(defer.tools).filter(
    ([, { quorum, four_eyes: fourEyes }]) => quorum > 1 || fourEyes,
  );
  if (defer.bind_approver || telling.length === 0) return [];
  const tools = telling.map(([tool]) => tool).join(', ');
  const message = `quorum and four_eyes (${tools}) go by the email that callers say is theirs; set it to true, so that the verified one counts`;
  return [warning(binding, message, [[...root, 'tools']])];
}

/** Who asked must be known to be told from who approves. */
function checkFourEyes({ rule, path, config }: Entry): Finding[] {
  if (!rule.four_eyes) return [];
  const key = [...path, 'four_eyes'];
  const anonymous = 'four_eyes cannot tell who asked without auth.providers; add one';
  const nameless =
    'four_eyes cannot tell who asked in Telegram, which knows no emails; take telegram out of channels, or let no approver ask there';
  return [
    ...(config.auth.providers.length === 0 ? [warning(key, anonymous, [providers])] : []),
    ...(config.channels.includes('telegram') ? [warning(key, nameless, [['channels']])] : []),
  ];
}

/** Whoever waits on the open request must be able to wait for the decision (document 1 section 8). */
function checkWriteTimeout({ rule, path, config }: Entry): Finding[] {
  const { write_timeout: limit } = config.server;
  if (limit === 0 || limit > rule.timeout) return [];
  const message = `server.write_timeout cuts requests off after ${formatDuration(limit)}, before this timeout is over; raise it or shorten the timeout`;
  return [warning([...path, 'timeout'], message, [[...root, 'default_timeout']])];
}

function checkTarget({ rule, path, config }: Entry, key: 'to' | 'escalate_to'): Finding[] {
  const { adapter, target } = splitTarget(rule[key] ?? '');
  const to = [...path, key];
  if (builtinAdapters.includes(adapter)) return [];
  if (adapter === 'telegram') {
    return [
      error(
        to,
        'telegram carries conversations only and cannot ask for a decision; use another adapter',
      ),
    ];
  }
  if (!channelAdapters.includes(adapter)) {
    const known = [...builtinAdapters, ...channelAdapters].join(', ');
    return [warning(to, `the adapter is not one of ${known}, so ${direct}`)];
  }
  const findings: Finding[] = [];
  if (!config.channels.includes(adapter)) {
    const message = `the ${adapter} adapter is not in channels, so ${direct}`;
    findings.push(warning(to, message, [['channels']]));
  }
  if (adapter === 'slack' && !isSlackChannel(target)) {
    const message = `no channel of Slack is called so, so ${direct}; write a name such as #refunds, or an id`;
    findings.push(warning(to, message));
  }
  if (key === 'to' && adapter === 'slack' && rule.timeout > channelWindow) {
    const message = `the timeout is longer than the ${formatDuration(channelWindow)} that a channel waits for an answer; shorten it`;
    const inherited = [...root, 'default_timeout'];
    findings.push(warning([...path, 'timeout'], message, [inherited]));
  }
  return findings;
}

/** Slack's names hold letters of any language, digits, hyphens and underscores; its ids pass as well. */
function isSlackChannel(target: string): boolean {
  return /^#?[\p{L}\p{M}\p{N}_-]{1,80}$/u.test(target);
}

const direct = 'nobody is asked; the deferral holds until a direct POST to the decisions endpoint';

function checkList(list: readonly string[], path: Path, config: ServiceConfig): Finding[] {
  const findings = list.flatMap((entry, index): Finding[] => {
    if (entry.trim() === '') {
      const message = 'this approver is blank and is dropped; a list of blanks lets anyone decide';
      return [warning([...path, index], message)];
    }
    if (isEmailShaped(entry)) return [];
    const message =
      'this approver is not an email, so it can never match and locks that person out; write name@example.com';
    return [warning([...path, index], message)];
  });
  if (normaliseApprovers(list).length > 0 && config.auth.providers.length === 0) {
    const message =
      'without auth.providers any caller can claim to be one of these approvers; add a provider';
    findings.push(warning(path, message, [providers]));
  }
  return findings;
}

/** A quorum of one is left to the warnings above: a list that nobody matches may be what is wanted. */
function checkQuorum({ rule, path, config }: Entry): Finding[] {
  const list = effectiveApprovers(rule.approvers, config.security.defer.default_approvers);
  if (rule.quorum === 1) return [];
  if (list === null) {
    const message = `a quorum counts people of a list, and there is none; add approvers, at least ${rule.quorum}`;
    return [error([...path, 'quorum'], message, [defaultList, [...path, 'approvers']])];
  }
  const approvers = new Set(list.filter(isEmailShaped)).size;
  if (rule.quorum <= approvers) return [];
  const message = `the quorum can never be met: ${rule.quorum} approvals are needed and ${approvers} may approve; lower it or add approvers`;
  return [error([...path, 'quorum'], message, [defaultList, [...path, 'approvers']])];
}

function error(path: Path, message: string, restsOn: readonly Path[] = []): Finding {
  return { path, message, severity: 'error', restsOn };
}

function warning(path: Path, message: string, restsOn: readonly Path[] = []): Finding {
  return { path, message, severity: 'warning', restsOn };
}
