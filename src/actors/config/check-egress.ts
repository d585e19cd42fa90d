import ipaddr from 'ipaddr.js';
import {
  type HostPattern,
  isCoveredBy,
  readHostEntry,
  readHostPattern,
} from '../outbound/outbound.ts';
import { errorAt, type Finding, type Path, warningAt } from './config-problem.ts';
import { isInside, mistakeInNetwork, reachOf } from './private-network.ts';
import type { ServiceConfig } from './service-schema.ts';

type Egress = ServiceConfig['egress'];

const domains: Path = ['egress', 'allowed_domains'];
const privates: Path = ['egress', 'allowed_private'];
const networks: Path = ['egress', 'allowed_private_cidrs'];

/**
 * Checks that the egress hosts and networks are valid and that every entry has the effect its author expects
 * (docs/contract/egress.md, docs/contract/correlation.md).
 */
export function checkEgress({ egress, workflow_propagation }: ServiceConfig): Finding[] {
  const { allowed_hosts: hosts } = workflow_propagation;
  return [
    ...checkMode(egress),
    ...egress.allowed_domains.flatMap((entry, index) =>
      checkDomain(entry, [...domains, index], egress),
    ),
    ...egress.allowed_private.flatMap((entry, index) => checkPrivate(entry, [...privates, index])),
    ...checkNetworks(egress),
    ...hosts.flatMap((entry, index) =>
      checkPropagation(entry, ['workflow_propagation', 'allowed_hosts', index], egress),
    ),
  ];
}

function checkMode({ mode, ...egress }: Egress): Finding[] {
  if (mode === 'dev-open') {
    const message =
      'mode {value} allows every host, the local network included; use it for development only';
    return [warningAt(['egress', 'mode'], message)];
  }
  if (mode === 'allowlist') return [];
  const message = 'tools have no network access with mode: deny-all, so this list has no effect';
  return (['allowed_domains', 'allowed_private'] as const)
    .filter((list) => egress[list].length > 0)
    .map((list) => warningAt(['egress', list], message, ['egress', 'mode']));
}

function checkDomain(entry: string, path: Path, egress: Egress): Finding[] {
  const reading = readHostEntry(entry);
  if (!reading.ok) return [errorAt(path, reading.message)];
  const { host, isWildcard } = reading.pattern;
  if (isWildcard && !host.includes('.')) {
    return [
      warningAt(path, `{value} lets every host whose name ends in .${host} pass; name the domain`),
    ];
  }
  return ipaddr.isValid(host) ? checkAddress(host, path, egress) : [];
}

/** `allowed_private` is for hosts whose address the operator knows. */
function checkPrivate(entry: string, path: Path): Finding[] {
  if (entry.includes('/') && ipaddr.isValidCIDR(entry)) {
    const message =
      'this is a network, not a host; add it to allowed_private_cidrs and list its hosts in allowed_domains';
    return [errorAt(path, message)];
  }
  const reading = readHostEntry(entry);
  if (!reading.ok) return [errorAt(path, reading.message)];
  const { host } = reading.pattern;
  const reach = ipaddr.isValid(host) ? reachOf(host) : 'private';
  if (reach === 'never') return [neverReached(path)];
  if (reach === 'private') return [];
  return [warningAt(path, 'the address {value} is public; list it in allowed_domains')];
}

/** A listed IP address passes the allowlist, but is still subject to the address check. */
function checkAddress(host: string, path: Path, egress: Egress): Finding[] {
  const reach = reachOf(host);
  if (reach === 'never') return [neverReached(path)];
  const { mode, allow_private_ips: isOpen, allowed_private_cidrs: opened } = egress;
  if (reach === 'public' || mode !== 'allowlist' || isOpen || isInside(host, opened)) return [];
  const message =
    'the address {value} is private and stays refused; list it in allowed_private instead';
  return [warningAt(path, message, networks, ['egress', 'allow_private_ips'])];
}

function neverReached(path: Path): Finding {
  return errorAt(path, 'the address {value} is never allowed; remove it');
}

function checkNetworks({ allowed_private_cidrs: opened, allow_private_ips }: Egress): Finding[] {
  const findings = opened.flatMap((entry, index): Finding[] => {
    const message = mistakeInNetwork(entry);
    return message === null ? [] : [errorAt([...networks, index], message)];
  });
  if (!allow_private_ips || opened.length === 0) return findings;
  const message = 'allow_private_ips: true opens every private network, so this list has no effect';
  return [...findings, warningAt(networks, message, ['egress', 'allow_private_ips'])];
}

/** Workflow headers are sent only to hosts that requests may reach. */
function checkPropagation(entry: string, path: Path, egress: Egress): Finding[] {
  const reading = readHostPattern(entry);
  if (!reading.ok) return [errorAt(path, reading.message)];
  if (egress.mode === 'dev-open') return [];
  const listed = [...egress.allowed_domains, ...egress.allowed_private];
  const isReachable = listed.some((allowed) => {
    const other = readHostEntry(allowed);
    return other.ok && overlap(reading.pattern, other.pattern);
  });
  if (isReachable && egress.mode === 'allowlist') return [];
  const message =
    egress.mode === 'deny-all'
      ? 'tools have no network access with mode: deny-all, so no header is ever propagated to {value}'
      : 'egress.allowed_domains does not list {value}; unless a skill declares it, no header is ever propagated to it';
  return [warningAt(path, message, domains, privates, ['egress', 'mode'])];
}

function overlap(one: HostPattern, other: HostPattern): boolean {
  return isCoveredBy(one, other) || isCoveredBy(other, one);
}
