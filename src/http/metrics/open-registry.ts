import { collectDefaultMetrics, Registry } from 'prom-client';
import { addApprovalMetrics } from './approval-metrics.ts';
import { addAuditMetrics } from './audit-metrics.ts';
import { addChannelMetrics } from './channel-metrics.ts';
import { addDaemonMetrics } from './daemon-metrics.ts';
import { addGenAiMetrics } from './gen-ai-metrics.ts';
import { addMcpServerMetrics } from './mcp-server-metrics.ts';
import type { Measurement } from './measurement.ts';
import type { MetricsPorts } from './metrics-ports.ts';
import { Readings } from './readings.ts';
import { addRequestMetrics } from './request-metrics.ts';
import { addStoreMetrics } from './store-metrics.ts';
import { addTaskMetrics } from './task-gauges.ts';
import { toolLabels } from './tool-labels.ts';

/** The metrics of a daemon, ready to be counted and written. */
export interface OpenRegistry {
  observe: (measurement: Measurement) => void;
  /** Writes every metric in Prometheus text format. */
  text: () => Promise<string>;
}

/** What the families of metrics share. */
export interface RegistryPorts extends MetricsPorts {
  /** Returns the number of requests that are not answered yet. */
  inFlight: () => number;
}

/** Counts the measurements of one family of metrics, and ignores all others. */
export type Observe = (measurement: Measurement) => void;

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
    text: () => registry.metrics(),
  };
}
