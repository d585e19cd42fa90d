import { isIP } from 'node:net';
import { keptStart } from '../../../machines/text.ts';
import type { EgressMode, EgressScope } from '../../ports/egress.ts';
import { type AddressPolicy, addressFault } from './address-policy.ts';
import type { EffectiveHosts } from './effective-hosts.ts';
import { isAlwaysClosed } from './egress-error.ts';
import { normaliseHost } from './host-pattern.ts';

/** One hop of a request; `protocol` as in a URL, such as `https:`. */
export interface Hop {
  protocol: string;
  hostname: string;
  port: number;
  /** True for a tunnel through the proxy. */
  isTunnel?: boolean;
}

/** Rules for hops. */
export interface HopPolicy {
  mode: EgressMode;
  hosts: EffectiveHosts;
  /** Address policies for the daemon itself and for tasks. */
  addresses: { own: AddressPolicy; tasks: AddressPolicy };
}

/** The host as shown in messages and records, and why it is refused; `null` if it is allowed. */
export interface HopRuling {
  host: string;
  why: string | null;
}

/**
 * Checks a hop before DNS resolution: scheme, allowlist, and the address if the host is one (docs/contract/egress.md).
 *
 * Tools, scripts and notification receivers may reach listed hosts; a script may also reach the hosts of its own skill.
 * Hosts from other settings are for the daemon only. `deny-all` allows the daemon those hosts, and tasks nothing.
 */
export function ruleHop(hop: Hop, scope: EgressScope | null, policy: HopPolicy): HopRuling {
  const { protocol, hostname, port } = hop;
  const host = normaliseHost(hostname);
  if (host === null) return { host: keptStart(hostname, 253), why: 'is no host' };
  if (protocol !== 'http:' && protocol !== 'https:') {
    return { host, why: 'uses neither http nor https' };
  }
  const closed = closedBy({ ...hop, host }, scope, policy);
  if (closed === unlisted || isIP(host) === 0) return { host, why: closed };
  const asked = { host, port, address: host, how: 'is' } as const;
  const fault = addressFault(asked, addressPolicyFor(scope, policy));
  return { host, why: isAlwaysClosed(fault) ? fault : (closed ?? fault) };
}

/** True for requests of the daemon itself, even while it serves a task. */
export function isDaemons(scope: EgressScope | null): boolean {
  return scope === null || (scope.isOwn ?? scope.taskId === null);
}

/** Returns the address policy of a scope. */
export function addressPolicyFor(
  scope: EgressScope | null,
  { addresses }: Pick<HopPolicy, 'addresses'>,
): AddressPolicy {
  return isDaemons(scope) ? addresses.own : addresses.tasks;
}

const unlisted = 'is not on the allowlist';

/** Returns why the allowlist refuses a hop; `null` if it does not. */
function closedBy(
  { host, port, isTunnel = false }: Hop & { host: string },
  scope: EgressScope | null,
  { mode, hosts }: HopPolicy,
): string | null {
  const isDerived = isDaemons(scope) && hosts.derives(host, port);
  if (mode === 'dev-open' || isDerived) return null;
  if (mode === 'deny-all') return unlisted;
  const skill = scope?.skill ?? null;
  if (hosts.lists({ host, port, isTunnel }, skill)) return null;
  const isListedWithoutPort = isTunnel && hosts.lists({ host, port, isTunnel: false }, skill);
  return isListedWithoutPort
    ? `requests a tunnel to port ${port}, which no entry allows`
    : unlisted;
}
