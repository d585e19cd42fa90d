import ipaddr from 'ipaddr.js';
import { isInside, mistakeInNetwork, reachOf } from './private-network.ts';
import type { Finding, Path } from './problem.ts';
import { type HostPattern, isCoveredBy, readHostPattern } from './read-host-pattern.ts';
import type { ServiceConfig } from './schema.ts';

type Egress = ServiceConfig['egress'];

const domains: Path = ['egress', 'allowed_domains'];
const networks: Path = ['egress', 'allowed_private_cidrs'];

/**
 * Checks what may be reached: that hosts and networks can be read, and that every entry has the effect
 * its writer expects (contract section 11, document 2 section 2.5).
 */
export function checkEgress({ egress, workflow_propagation }: ServiceConfig): Finding[] {
  const { allowed_hosts: hosts } = workflow_propagation;
  return [
    ...checkMode(egress),
    ...egress.allowed_domains.flatMap((entry, index) =>
      checkDomain(entry, [...domains, index], egress),
    ),
    ...checkNetworks(egress),
    ...hosts.flatMap((entry, index) =>
      checkPropagation(entry, ['workflow_propagation', 'allowed_hosts', index], egress),
    ),
  ];
}

function checkMode({ mode, allowed_domains: allowed }: Egress): Finding[] {
  if (mode === 'dev-open') {
    const message =
      'in this mode every host may be reached, those of the own network as well; use it for development alone';
    return [warning(['egress', 'mode'], message)];
  }
  if (mode === 'deny-all' && allowed.length > 0) {
    const message = 'tools reach nothing with mode: deny-all, so this list has no effect';
    return [warning(domains, message, ['egress', 'mode'])];
  }
  return [];
}

function checkDomain(entry: string, path: Path, egress: Egress): Finding[] {
  const reading = readHostPattern(entry);
  if (!reading.ok) return [{ path, message: reading.message, severity: 'error' }];
  const { host, isWildcard } = reading.pattern;
  if (isWildcard && !host.includes('.')) {
    return [
      warning(path, `this lets every host whose name ends in .${host} pass; name the domain`),
    ];
  }
  return ipaddr.isValid(host) ? checkAddress(host, path, egress) : [];
}

/** A listed address passes the list, and then the same check as every other. */
function checkAddress(host: string, path: Path, egress: Egress): Finding[] {
  const reach = reachOf(host);
  if (reach === 'never') {
    const message = 'this address is never reached, whatever is listed; remove it';
    return [{ path, message, severity: 'error' }];
  }
  const { mode, allow_private_ips: isOpen, allowed_private_cidrs: opened } = egress;
  if (reach === 'public' || mode !== 'allowlist' || isOpen || isInside(host, opened)) return [];
  const message =
    'this address is private and stays refused; add its network to allowed_private_cidrs';
  return [warning(path, message, networks, ['egress', 'allow_private_ips'])];
}

function checkNetworks({ allowed_private_cidrs: opened, allow_private_ips }: Egress): Finding[] {
  const findings = opened.flatMap((entry, index): Finding[] => {
    const message = mistakeInNetwork(entry);
    return message === null ? [] : [{ path: [...networks, index], message, severity: 'error' }];
  });
  if (!allow_private_ips || opened.length === 0) return findings;
  const message = 'allow_private_ips: true opens every private network, so this list has no effect';
  return [...findings, warning(networks, message, ['egress', 'allow_private_ips'])];
}

/** Workflow headers go only where the request itself may go. */
function checkPropagation(entry: string, path: Path, egress: Egress): Finding[] {
  const reading = readHostPattern(entry);
  if (!reading.ok) return [{ path, message: reading.message, severity: 'error' }];
  if (egress.mode === 'dev-open') return [];
  const isReachable = egress.allowed_domains.some((allowed) => {
    const other = readHostPattern(allowed);
    return other.ok && overlap(reading.pattern, other.pattern);
  });
  if (isReachable && egress.mode === 'allowlist') return [];
  const message =
    egress.mode === 'deny-all'
      ? 'tools reach nothing with mode: deny-all, so nothing is ever handed on to this host'
      : 'egress.allowed_domains does not list this host; unless a skill declares it, nothing is ever handed on to it';
  return [warning(path, message, domains, ['egress', 'mode'])];
}

function overlap(one: HostPattern, other: HostPattern): boolean {
  return isCoveredBy(one, other) || isCoveredBy(other, one);
}

function warning(path: Path, message: string, ...restsOn: Path[]): Finding {
  return { path, message, severity: 'warning', restsOn };
}
