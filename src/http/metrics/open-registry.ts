import { setImmediate as turn } from 'node:timers/promises';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { addApprovalMetrics } from './approval-metrics.ts';
import { BoundedNames, otherName } from './bounded-names.ts';
import { addDaemonMetrics } from './daemon-metrics.ts';
import { addGenAiMetrics } from './gen-ai-metrics.ts';
import { addLimitMetrics } from './limit-metrics.ts';
import type { Measurement, Observe } from './measurement.ts';
import type { RegistryPorts } from './metrics-ports.ts';
import { Readings, sharedRead } from './readings.ts';
import { addRequestMetrics } from './request-metrics.ts';
import { addStoreMetrics } from './store-metrics.ts';
import { addTaskMetrics } from './task-gauges.ts';

/** Milliseconds after which other work runs before the next metric is written. */
const longestTurn = 5;

/**
 * Writes the metrics of a registry in their order. Those that are read, by name in `read`, are read together; the others
 * may have thousands of lines, so other work runs between them.
 */
async function writeMetrics(registry: Registry, read: readonly string[]): Promise<string> {
  const texts = new Map<string, string>();
  await Promise.all(
    read.map(async (name) => texts.set(name, await registry.getSingleMetricAsString(name))),
  );
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  let began = performance.now();
  for (const name of names) {
    if (!texts.has(name)) texts.set(name, await registry.getSingleMetricAsString(name));
    if (performance.now() - began < longestTurn) continue;
    await turn();
    began = performance.now();
  }
  return `${names.map((name) => texts.get(name)).join('\n\n')}\n`;
}

/** Maximum number of tools with series of their own; a server of tools may rename its tools at any time. */
const mostTools = 200;

/**
 * Returns the function from a tool of a call to its label. A caller or a model may name any tool, so a tool that the
 * agent does not list is `other`.
 */
function toolLabels(
  listed: (tool: string) => string | null = (tool) => tool,
): (tool: string) => string {
  const names = new BoundedNames(mostTools);
  return (tool) => {
    const name = listed(tool);
    return name === null ? otherName : names.of(name);
  };
}

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
  addLimitMetrics(readings, ports);
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

/** Adds the metrics of the audit log and its sinks. */
function addAuditMetrics(
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

/** Adds the metrics of the MCP servers whose tools the agent uses. */
function addMcpServerMetrics(
  readings: Readings,
  { mcpServers: servers }: Pick<RegistryPorts, 'mcpServers'>,
): void {
  if (servers === undefined) return;
  readings.gauge({
    name: 'holdpoint_mcp_server_up',
    help: 'Whether the agent is connected to the MCP server.',
    labelNames: ['server'],
    read: () =>
      servers.states().map(({ name: server, state }) => ({
        labels: { server },
        value: state === 'connected' ? 1 : 0,
      })),
  });
  readings.counter({
    name: 'holdpoint_mcp_calls_total',
    help: 'Calls to the MCP server, by outcome: answered, or failed without an answer.',
    labelNames: ['server', 'outcome'],
    read: () =>
      servers.states().flatMap(({ name: server, calls, failures }) => [
        { labels: { server, outcome: 'answered' }, value: calls - failures },
        { labels: { server, outcome: 'failed' }, value: failures },
      ]),
  });
  readings.counter({
    name: 'holdpoint_mcp_call_seconds_total',
    help: 'Time of all calls to the MCP server.',
    labelNames: ['server'],
    read: () =>
      servers.states().map(({ name: server, total }) => ({
        labels: { server },
        value: total / 1_000,
      })),
  });
}

/** Adds the metrics of the channels to approvers and other people. */
function addChannelMetrics(
  readings: Readings,
  { channels, clock }: Pick<RegistryPorts, 'channels' | 'clock'>,
): void {
  if (channels === undefined) return;
  const status = sharedRead(channels);
  const labelNames = ['adapter'];
  readings.gauge({
    name: 'holdpoint_channel_up',
    help: 'Whether the connection to approvers and other people is open.',
    labelNames,
    async read() {
      return (await status()).map(({ adapter, state }) => ({
        labels: { adapter },
        value: state === 'connected' || state === 'draining' ? 1 : 0,
      }));
    },
  });
  readings.gauge({
    name: 'holdpoint_channel_pending_messages',
    help: 'Approval messages that are not delivered yet.',
    labelNames,
    async read() {
      return (await status()).map(({ adapter, pending: value }) => ({
        labels: { adapter },
        value,
      }));
    },
  });
  readings.gauge({
    name: 'holdpoint_channel_oldest_pending_seconds',
    help: 'Age of the oldest held call among these messages; 0 for none.',
    labelNames,
    async read() {
      const now = clock.now();
      return (await status()).map(({ adapter, oldestAt }) => ({
        labels: { adapter },
        value: oldestAt === null ? 0 : Math.max(0, now - oldestAt) / 1_000,
      }));
    },
  });
}
