import type { RegistryPorts } from './metrics-ports.ts';
import type { Readings } from './readings.ts';

/** Adds the metrics of the MCP servers whose tools the agent uses. */
export function addMcpServerMetrics(
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
