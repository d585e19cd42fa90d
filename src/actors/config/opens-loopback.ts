import { readNetwork } from '../outbound/outbound.ts';
import type { ServiceConfig } from './service-schema.ts';

/** Names the setting that opens every port of this machine's loopback to tools, such as `egress.mode: dev-open`; `null` for none. */
export function opensLoopback({ egress }: ServiceConfig): string | null {
  if (egress.mode === 'deny-all') return null;
  if (egress.mode === 'dev-open') return 'egress.mode: dev-open';
  if (egress.allow_private_ips) return 'egress.allow_private_ips';
  return egress.allowed_private_cidrs.some(isLoopback) ? 'egress.allowed_private_cidrs' : null;
}

function isLoopback(entry: string): boolean {
  const reading = readNetwork(entry);
  return reading.ok && reading.network[0].range() === 'loopback';
}
