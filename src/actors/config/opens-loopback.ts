import { isLoopback } from '../../machines/loopback.ts';
import { readHostEntry, readNetwork } from '../outbound/outbound.ts';
import type { ServiceConfig } from './service-schema.ts';

/**
 * Returns the setting that opens every loopback port of this machine to tools, such as `egress.mode: dev-open`; `null`
 * for none.
 */
export function opensLoopback({ egress }: ServiceConfig): string | null {
  if (egress.mode === 'deny-all') return null;
  if (egress.mode === 'dev-open') return 'egress.mode: dev-open';
  if (egress.allow_private_ips) return 'egress.allow_private_ips';
  if (egress.allowed_private.some(isLoopbackHost)) return 'egress.allowed_private';
  return egress.allowed_private_cidrs.some(isLoopbackNetwork)
    ? 'egress.allowed_private_cidrs'
    : null;
}

/** An entry with a port opens only that port. */
function isLoopbackHost(entry: string): boolean {
  const reading = readHostEntry(entry);
  return reading.ok && reading.port === null && isLoopback(reading.pattern.host);
}

function isLoopbackNetwork(entry: string): boolean {
  const reading = readNetwork(entry);
  return reading.ok && reading.network[0].range() === 'loopback';
}
