import type { EgressMode } from '../../ports/egress.ts';
import type { AddressPolicy } from './address-policy.ts';
import { createAddressRules } from './address-rules.ts';
import { type DerivedEndpoint, effectiveHosts } from './effective-hosts.ts';
import { normaliseHost } from './host-pattern.ts';
import type { OwnListeners } from './own-listeners.ts';
import type { HopPolicy } from './rule-hop.ts';

/** Egress settings that apply to hops. */
export interface HopSettings {
  mode: EgressMode;
  /** Host patterns (docs/contract/correlation.md), with or without a port. */
  allowedDomains: readonly string[];
  /** Host patterns that may resolve to private addresses; none by default. */
  allowedPrivate?: readonly string[];
  allowPrivateIps: boolean;
  allowedPrivateCidrs: readonly string[];
  endpoints: readonly DerivedEndpoint[];
}

/**
 * Creates the rules for hops. Hosts from other settings may be private only for the daemon; listeners of the daemon and
 * its neighbours are closed only to tasks. Throws an Error that names an invalid pattern or network.
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

/** Normalises the host before the look-up. */
function byHost(ask: AddressPolicy['mayBePrivate']): AddressPolicy['mayBePrivate'] {
  return (host, port) => ask(normaliseHost(host) ?? '', port);
}
