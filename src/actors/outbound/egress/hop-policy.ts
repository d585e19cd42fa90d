import type { EgressMode } from '../../ports.ts';
import type { AddressPolicy } from './address-policy.ts';
import { createAddressRules } from './address-rules.ts';
import { type DerivedEndpoint, effectiveHosts } from './effective-hosts.ts';
import { normaliseHost } from './host-pattern.ts';
import type { OwnListeners } from './own-listeners.ts';
import type { HopPolicy } from './rule-hop.ts';

/** What the settings say of hops. */
export interface HopSettings {
  mode: EgressMode;
  /** Host patterns (docs/contract/correlation.md), with a port or without. */
  allowedDomains: readonly string[];
  /** The same, and what they name may be private; none unless given. */
  allowedPrivate?: readonly string[];
  allowPrivateIps: boolean;
  allowedPrivateCidrs: readonly string[];
  endpoints: readonly DerivedEndpoint[];
}

/**
 * Makes the rules for hops: what other settings lead to may be private for the daemon alone, and its listeners and
 * those of its neighbours are closed to tasks alone. Throws an Error that names the entry when a pattern or a network cannot be read.
 */
export function hopPolicy(options: HopSettings, listeners: OwnListeners): HopPolicy {
  const {
    mode,
    allowedDomains,
    allowedPrivate = [],
    allowPrivateIps,
    allowedPrivateCidrs,
  } = options;
  const hosts = effectiveHosts(
    { domains: allowedDomains, private: allowedPrivate },
    options.endpoints,
  );
  const checkAddress = createAddressRules({
    allowPrivateIps: allowPrivateIps || mode === 'dev-open',
    allowedPrivateCidrs,
  });
  const own = (host: string, port: number) =>
    hosts.listsPrivate(host, port) || hosts.derivesPrivate(host, port);
  return {
    mode,
    hosts,
    addresses: {
      own: { checkAddress, mayBePrivate: byHost(own), closedAt: () => null },
      tasks: {
        checkAddress,
        mayBePrivate: byHost((host, port) => hosts.listsPrivate(host, port)),
        closedAt: (address, port, from) => listeners.closedAt(address, port, from),
      },
    },
  };
}

/** Asks for a host in the form in which hosts are compared. */
function byHost(ask: AddressPolicy['mayBePrivate']): AddressPolicy['mayBePrivate'] {
  return (host, port) => ask(normaliseHost(host) ?? '', port);
}
