import { isIP } from 'node:net';
import { formatDuration } from '../../machines/duration.ts';
import { normaliseApprovers } from '../../machines/governance/approvers.ts';
import { namesOnePerson } from '../../machines/governance/email.ts';
import { approvalsIn, deciders } from '../../machines/governance/quorum.ts';
import { readEntry } from '../../machines/governance/standing.ts';
import { checkTargets, type DeferEntry } from './check-targets.ts';
import { checkTemplate } from './check-template.ts';
import { errorAt, type Finding, type Path, warningAt } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';
import { askingRules } from './tool-rules.ts';

const root = ['security', 'defer'] as const;
const defaultList: Path = [...root, 'default_approvers'];
const binding: Path = [...root, 'bind_approver'];
const providers: Path = ['auth', 'providers'];

/** Checks the rules that hold calls, of tools, limits and effects (docs/contract/governance.md, 5 and 8). */
export function checkDefer(config: ServiceConfig, isWritten: (path: Path) => boolean): Finding[] {
  const { defer } = config.security;
  const asking = askingRules(config.security);
  if (!defer.enabled && asking.length === 0) return [];
  const entries = asking.map(({ rule, path }): DeferEntry => ({ rule, path, config, isWritten }));
  const isIdle = asking.length === 0 && Object.keys(defer.tools).length === 0;
  if (isIdle && config.gate?.unknown !== 'defer') {
    const message =
      'defer is enabled and lists no tools; add them under tools, or set enabled: false';
    return [errorAt([...root, 'tools'], message)];
  }
  return [
    ...checkBinding(config),
    ...checkAnyone(config),
    ...checkList(defer.default_approvers, defaultList, config),
    ...checkDefaultList(config),
    ...entries.flatMap(checkEntry),
  ];
}

const undecidable =
  'no one can ever decide, since no approver of this list is an email; write name@example.com';

const unknownEntry =
  'this is neither an email nor group:NAME, oncall:NAME or claim:NAME=VALUE; write one of them';

function canMatch(entry: string): boolean {
  return namesOnePerson(entry) || readEntry(entry) !== null;
}

function malformedEntries(quorum: Readonly<Record<string, number>>): string[] {
  return Object.keys(quorum).filter((entry) => !canMatch(entry));
}

/** Checks that at least one approver exists for calls that use the default list. */
function checkDefaultList({ security }: ServiceConfig): Finding[] {
  const list = normaliseApprovers(security.defer.default_approvers);
  const isUsed = askingRules(security).some(
    ({ rule }) => normaliseApprovers(rule.approvers).length === 0,
  );
  if (list.length === 0 || list.some(canMatch) || !isUsed) return [];
  return [errorAt(defaultList, undecidable)];
}

function checkEntry(entry: DeferEntry): Finding[] {
  const { rule, path, config } = entry;
  return [
    ...checkTargets(entry),
    ...checkTemplate(rule.context_template, [...path, 'context_template']),
    ...checkList(rule.approvers, [...path, 'approvers'], config),
    ...checkQuorum(entry),
    ...checkWriteTimeout(entry),
    ...checkFourEyes(entry),
    ...checkMention(entry),
    ...checkPasskey(entry),
  ];
}

/** Checks that approvers are identified by a verified email, not by a name that callers state themselves. */
function checkBinding(config: ServiceConfig): Finding[] {
  const {
    auth,
    security: { defer },
  } = config;
  if (auth.providers.length === 0) {
    if (!defer.bind_approver) return [];
    if (config.channels.includes('slack')) {
      const message =
        'without auth.providers nobody has a verified email, so only people in a chat can decide; add a provider';
      return [warningAt(binding, message, providers)];
    }
    const message =
      'without auth.providers and without Slack nobody has a verified email, so nobody can ever decide; add a provider';
    return [warningAt(binding, message, providers)];
  }
  const telling = askingRules(config.security).filter(
    ({ rule: { quorum, four_eyes: fourEyes } }) => approvalsIn(quorum) > 1 || fourEyes,
  );
  if (defer.bind_approver || telling.length === 0) return [];
  const tools = [...new Set(telling.map(({ tool }) => tool))].join(', ');
  const message = `quorum and four_eyes (${tools}) use the email that callers claim; set it to true to require the verified one`;
  return [warningAt(binding, message, [...root, 'tools'])];
}

/** Checks that rules list approvers where people sign in: otherwise every person who signs in may decide. */
function checkAnyone({ auth, approvals, security }: ServiceConfig): Finding[] {
  const isSignedIn = auth.providers.length > 0 || approvals !== undefined;
  if (!isSignedIn || security.defer.default_approvers.length > 0) return [];
  const open = askingRules(security).filter(
    ({ rule }) => deciders(rule, []).approvers === null && rule.approvers.length === 0,
  );
  if (open.length === 0) return [];
  const tools = [...new Set(open.map(({ tool }) => tool))].join(', ');
  const message = `anyone who signs in may decide on ${tools}, because these rules list no approvers; list them here, or under approvers of each rule`;
  return [warningAt(defaultList, message, [...root, 'tools'])];
}

/** Checks that requesters are authenticated, so they can be distinguished from approvers. */
function checkFourEyes({ rule, path, config }: DeferEntry): Finding[] {
  if (!rule.four_eyes) return [];
  const key = [...path, 'four_eyes'];
  const anonymous = 'four_eyes cannot identify the requester without auth.providers; add one';
  const nameless =
    'four_eyes identifies requesters in Telegram only if telegram-config.yaml lists them under people; list every approver who sends requests there';
  return [
    ...(config.auth.providers.length === 0 ? [warningAt(key, anonymous, providers)] : []),
    ...(config.channels.includes('telegram') ? [warningAt(key, nameless, ['channels'])] : []),
  ];
}

/** Checks that there is someone to mention. */
function checkMention({ rule, path, config }: DeferEntry): Finding[] {
  const { approvers } = deciders(rule, config.security.defer.default_approvers);
  if (rule.mention !== true || approvers !== null) return [];
  const message = 'mention has no effect without approvers; list them, or remove it';
  return [warningAt([...path, 'mention'], message, defaultList)];
}

/** Checks that there is a page on which people can use a passkey; browsers offer none on an IP address. */
function checkPasskey({ rule, path, config }: DeferEntry): Finding[] {
  if (rule.require_passkey !== true) return [];
  if (config.approvals !== undefined) {
    const { hostname } = new URL(config.approvals.public_url);
    if (isIP(hostname.replace(/^\[|\]$/g, '')) === 0) return [];
    const numeric =
      'browsers offer no passkey at an IP address, so nobody could approve; write a host name in approvals.public_url';
    return [errorAt([...path, 'require_passkey'], numeric, ['approvals', 'public_url'])];
  }
  const message =
    'a passkey is used on the approvals page, so nobody could approve; configure approvals, or remove it';
  return [errorAt([...path, 'require_passkey'], message, ['approvals'])];
}

/** Checks that a request may stay open for as long as a call waits for its decision (docs/contract/governance.md). */
function checkWriteTimeout({ rule, path, config }: DeferEntry): Finding[] {
  const { write_timeout: limit } = config.server;
  if (limit === 0 || limit > rule.timeout) return [];
  const message = `server.write_timeout cuts requests off after ${formatDuration(limit)}, before the timeout of ${formatDuration(rule.timeout)} is over; raise it or shorten the timeout`;
  return [warningAt([...path, 'timeout'], message, [...root, 'default_timeout'])];
}

function checkList(list: readonly string[], path: Path, config: ServiceConfig): Finding[] {
  if (list.length > 0 && normaliseApprovers(list).length === 0) {
    const message =
      'every approver of this list is blank, so anyone could decide; add one, or omit the list';
    return [errorAt(path, message)];
  }
  const findings = list.flatMap((entry, index): Finding[] => {
    if (entry.trim() === '') {
      return [warningAt([...path, index], 'this approver is blank and is dropped; remove it')];
    }
    if (canMatch(entry)) return [];
    const message =
      'the approver {value} is not an email, so it can never match and locks that person out; write name@example.com';
    return [warningAt([...path, index], message)];
  });
  if (normaliseApprovers(list).length > 0 && config.auth.providers.length === 0) {
    const message =
      'without auth.providers any caller can claim to be one of these approvers; add a provider';
    findings.push(warningAt(path, message, providers));
  }
  return findings;
}

/** Checks that enough approvers exist; the default list is checked once, separately. */
function checkQuorum({ rule, path, config }: DeferEntry): Finding[] {
  const { approvers: list, quorum } = deciders(rule, config.security.defer.default_approvers);
  const malformed = typeof rule.quorum === 'number' ? [] : malformedEntries(rule.quorum);
  if (malformed.length > 0) {
    return malformed.map((entry) => errorAt([...path, 'quorum', entry], unknownEntry));
  }
  if (list === null) {
    if (quorum === 1) return [];
    const message = `a quorum requires a list of approvers; add at least ${quorum}`;
    return [errorAt([...path, 'quorum'], message, defaultList, [...path, 'approvers'])];
  }
  // The number of members is known only when they decide.
  if (list.some((entry) => readEntry(entry) !== null)) return [];
  const approvers = new Set(list.filter(namesOnePerson)).size;
  const isOwn = normaliseApprovers(rule.approvers).length > 0;
  if (approvers === 0) return isOwn ? [errorAt([...path, 'approvers'], undecidable)] : [];
  if (quorum <= approvers) return [];
  const message = `the quorum can never be met: ${quorum} approvals are needed and ${approvers} may approve; lower it or add approvers`;
  return [errorAt([...path, 'quorum'], message, defaultList, [...path, 'approvers'])];
}
