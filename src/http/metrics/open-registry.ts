import { collectDefaultMetrics, Registry } from 'prom-client';
import { addApprovalMetrics } from './approval-metrics.ts';
import { addAuditMetrics } from './audit-metrics.ts';
import { addChannelMetrics } from './channel-metrics.ts';
import { addDaemonMetrics } from './daemon-metrics.ts';
import { addGenAiMetrics } from './gen-ai-metrics.ts';
import { addMcpServerMetrics } from './mcp-server-metrics.ts';
import type { Measurement, Observe } from './measurement.ts';
import type { RegistryPorts } from './metrics-ports.ts';
import { Readings } from './readings.ts';
import { addRequestMetrics } from './request-metrics.ts';
import { addStoreMetrics } from './store-metrics.ts';
import { addTaskMetrics } from './task-gauges.ts';
import { toolLabels } from './tool-labels.ts';
import { writeMetrics } from './write-metrics.ts';

/** The metrics of a daemon, ready to be counted and written. */
export interface OpenRegistry {
  observe: (measurement: Measurement) => void;
  /** Writes every metric in Prometheus text format. */
  text: () => Promise<string>;
}

/** Gauges whose names end like counters, which Prometheus linters reject. Each value also exists by type. */
const misnamed = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** Creates the registry of an agent's metrics. */
export function openRegistry(ports: RegistryPorts): OpenRegistry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  const readings = new Readings(registry, ports);
  const labelOf = toolLabels(ports.daemon?.listedTool);
  const observers: Observe[] = [
    addApprovalMetrics(registry, labelOf),
    addRequestMetrics(registry, readings, ports),
    addGenAiMetrics(registry, labelOf),
    addStoreMetrics(registry, readings, ports),
  ];
  addTaskMetrics(readings, ports);
  addDaemonMetrics(readings, ports);
  addAuditMetrics(readings, ports);
  addChannelMetrics(readings, ports);
  addMcpServerMetrics(readings, ports);
  return {
    observe(measurement) {
      for (const observe of observers) observe(measurement);
    },
    text: () => writeMetrics(registry, readings.names),
  };
}
