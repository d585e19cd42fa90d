import type { AuditEvent } from '../../ports/audit-event.ts';
import type { EgressRecord } from '../../ports/egress.ts';

/** Converts a ruling of the egress policy to an audit event (docs/contract/audit.md). */
export function egressWords({
  domain,
  mode,
  reason,
}: Pick<EgressRecord, 'domain' | 'reason'> & { mode: string }): [
  event: 'egress_allowed' | 'egress_blocked',
  fields: NonNullable<AuditEvent['fields']>,
] {
  return reason === null
    ? ['egress_allowed', { domain, mode }]
    : ['egress_blocked', { domain, mode, reason }];
}
