import { openHoldStates } from '../../machines/domain/hold.ts';
import { taskStates } from '../../machines/domain/task.ts';
import type { RegistryPorts } from './metrics-ports.ts';
import { type Readings, sharedRead } from './readings.ts';

/** Adds the metrics of the tasks in the store. */
export function addTaskMetrics(
  readings: Readings,
  { system: { metrics: tasks }, clock }: Pick<RegistryPorts, 'system' | 'clock'>,
): void {
  const census = sharedRead(() => tasks.census());
  const waits = sharedRead(() => tasks.waits(clock.now()));
  readings.gauge({
    name: 'holdpoint_deferrals_pending',
    help: 'Tool calls that wait for a decision.',
    read: async () => [{ value: (await census()).deferred ?? 0 }],
  });
  readings.gauge({
    name: 'holdpoint_deferrals_oldest_seconds',
    help: 'How long the oldest of these calls has waited; 0 for none.',
    async read() {
      const { oldestAt } = await waits();
      const age = oldestAt === null ? 0 : Math.max(0, clock.now() - oldestAt);
      return [{ value: age / 1_000 }];
    },
  });
  readings.gauge({
    name: 'holdpoint_deferrals_next_expiry_timestamp_seconds',
    help: 'Unix time at which the next of these calls expires; 0 for none.',
    read: async () => [{ value: ((await waits()).expiresAt ?? 0) / 1_000 }],
  });
  readings.gauge({
    name: 'holdpoint_deadlines_overdue',
    help: 'Stored deadlines that have passed and are not processed yet, at most 1,000.',
    read: async () => [{ value: (await waits()).overdue }],
  });
  readings.gauge({
    name: 'holdpoint_tasks',
    help: 'Tasks in the store, by state.',
    labelNames: ['state'],
    async read() {
      const counted = await census();
      return taskStates.map((state) => ({ labels: { state }, value: counted[state] ?? 0 }));
    },
  });
  readings.gauge({
    name: 'holdpoint_holds_open',
    help: 'Calls of other programs that wait for a decision, for their program or for their outcome, by state.',
    labelNames: ['state'],
    async read() {
      const counted = await tasks.openHolds();
      return openHoldStates.map((state) => ({ labels: { state }, value: counted[state] ?? 0 }));
    },
  });
  readings.gauge({
    name: 'holdpoint_tasks_of_other_releases',
    help: 'Unfinished tasks that only another release can continue.',
    read: async () => [{ value: await tasks.strangers() }],
  });
  readings.gauge({
    name: 'holdpoint_tasks_live',
    help: 'Tasks that have an actor in memory.',
    read: () => [{ value: tasks.live() }],
  });
}
