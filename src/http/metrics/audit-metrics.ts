import type { RegistryPorts } from './metrics-ports.ts';
import type { Readings } from './readings.ts';

/** Adds the metrics of the audit log and its sinks. */
export function addAuditMetrics(
  readings: Readings,
  { auditLag, auditSinks: sinks }: Pick<RegistryPorts, 'auditLag' | 'auditSinks'>,
): void {
  if (auditLag !== undefined) {
    readings.gauge({
      name: 'holdpoint_audit_lag_events',
      help: 'Events of the audit log that are committed and not yet synced to its file.',
      read: async () => [{ value: await auditLag() }],
    });
  }
  if (sinks === undefined) return;
  const labelNames = ['sink'];
  readings.counter({
    name: 'holdpoint_audit_sink_delivered_total',
    help: 'Lines of the audit log that a sink accepted.',
    labelNames,
    read: () => sinks().map(({ name: sink, delivered: value }) => ({ labels: { sink }, value })),
  });
  readings.counter({
    name: 'holdpoint_audit_sink_dropped_total',
    help: 'Lines dropped because a sink accepted none.',
    labelNames,
    read: () => sinks().map(({ name: sink, dropped: value }) => ({ labels: { sink }, value })),
  });
  readings.gauge({
    name: 'holdpoint_audit_sink_lag_events',
    help: 'Lines of the audit log that wait for a sink.',
    labelNames,
    read: () => sinks().map(({ name: sink, lag: value }) => ({ labels: { sink }, value })),
  });
}
