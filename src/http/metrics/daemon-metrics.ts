import type { RegistryPorts } from './metrics-ports.ts';
import type { Readings } from './readings.ts';

/** Adds the metrics of the daemon itself, its policy and its push notifications. */
export function addDaemonMetrics(
  readings: Readings,
  { daemon, system }: Pick<RegistryPorts, 'daemon' | 'system'>,
): void {
  readings.gauge({
    name: 'holdpoint_ready',
    help: 'Whether the agent accepts and can record new tasks.',
    read: () => [{ value: system.intake.isReady() ? 1 : 0 }],
  });
  if (daemon === undefined) return;
  const { agent, version } = daemon;
  readings.gauge({
    name: 'holdpoint_build_info',
    help: 'The agent and the release of its daemon; always 1.',
    labelNames: ['agent', 'version'],
    read: () => [{ labels: { agent, version }, value: 1 }],
  });
  readings.gauge({
    name: 'holdpoint_policy_generation',
    help: 'Policies that were in force since the start, the current one included.',
    read: () => [{ value: daemon.policy().generation }],
  });
  readings.gauge({
    name: 'holdpoint_policy_current',
    help: 'Whether the policy in force is that of the files of the agent.',
    read: () => [{ value: daemon.policy().isCurrent ? 1 : 0 }],
  });
  readings.gauge({
    name: 'holdpoint_policy_restart_needed',
    help: 'Whether the files have settings that apply at the next start only.',
    read: () => [{ value: daemon.policy().needsRestart ? 1 : 0 }],
  });
  readings.gauge({
    name: 'holdpoint_push_pending_notifications',
    help: 'Push notifications that wait for their receiver.',
    read: () => [{ value: daemon.push().pending }],
  });
  readings.counter({
    name: 'holdpoint_push_given_up_total',
    help: 'Push notifications that no receiver accepted within an hour.',
    read: () => [{ value: daemon.push().givenUp }],
  });
}
