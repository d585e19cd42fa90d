import { isIP } from 'node:net';
import type { EgressMode, EgressScope } from '../ports.ts';
import type { JudgeAddress } from './address-rules.ts';
import type { EffectiveHosts } from './effective-hosts.ts';
import { normaliseHost } from './host-pattern.ts';

/** One hop of a request; `protocol` is as in a URL, such as `https:`. */
export interface Hop {
  protocol: string;
  hostname: string;
  port: number;
}

/** What hops are ruled by. */
export interface HopPolicy {
  mode: EgressMode;
  hosts: EffectiveHosts;
  judgeAddress: JudgeAddress;
}

/** The host in the form for messages and records, and why it may not be asked; `null` when it may. */
export interface HopRuling {
  host: string;
  why: string | null;
}

/**
 * Rules on what can be said of a hop before its name is resolved: scheme, allowlist, and the address
 * when the host is one (contract section 11).
 *
 * `deny-all` leaves the daemon the endpoints that its own settings name, and tools nothing.
 */
export function ruleHop(
  { protocol, hostname, port }: Hop,
  scope: EgressScope | null,
  policy: HopPolicy,
): HopRuling {
  const host = normaliseHost(hostname);
  if (host === null) return { host: hostname.slice(0, 253), why: 'is no host' };
  if (protocol !== 'http:' && protocol !== 'https:') {
    return { host, why: 'is asked for over neither http nor https' };
  }
  if (!isListed(host, port, scope, policy)) return { host, why: 'is not on the allowlist' };
  if (isIP(host) === 0) return { host, why: null };
  const fault = policy.judgeAddress(host, policy.hosts.mayBePrivate(host, port));
  return { host, why: fault === null ? null : `is ${fault}` };
}

/** True for what the daemon itself asks, be it while it serves a task. */
export function isDaemons(scope: EgressScope | null): boolean {
  return scope === null || scope.taskId === null || scope.isOwn === true;
}

function isListed(
  host: string,
  port: number,
  scope: EgressScope | null,
  { mode, hosts }: HopPolicy,
): boolean {
  switch (mode) {
    case 'dev-open':
      return true;
    case 'allowlist':
      return hosts.lists(host) || hosts.derives(host, port);
    case 'deny-all':
      return isDaemons(scope) && hosts.derives(host, port);
  }
}
