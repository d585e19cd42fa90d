import { Histogram, type Registry } from 'prom-client';
import type { Observe } from './measurement.ts';
import type { RegistryPorts } from './metrics-ports.ts';
import { type Readings, sharedRead } from './readings.ts';

/** Histogram bounds for commits in seconds. */
const commitBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10];

/** Adds the metrics of the store and its disk, and those of several daemons over one store. */
export function addStoreMetrics(
  registry: Registry,
  readings: Readings,
  { daemon, shared }: Pick<RegistryPorts, 'daemon' | 'shared'>,
): Observe {
  const commits = new Histogram({
    name: 'holdpoint_store_commit_duration_seconds',
    help: 'How long commits of the store took.',
    buckets: commitBuckets,
    registers: [registry],
  });
  if (daemon !== undefined) addDisk(readings, daemon);
  if (shared !== undefined) addShared(readings, shared);
  return (measured) => {
    if (measured.type === 'commit') commits.observe(measured.milliseconds / 1_000);
  };
}

function addDisk(readings: Readings, daemon: NonNullable<RegistryPorts['daemon']>): void {
  readings.gauge({
    name: 'holdpoint_store_writable',
    help: 'Whether the store accepts writes.',
    read: () => [{ value: daemon.isWritable() ? 1 : 0 }],
  });
  const disk = sharedRead(daemon.disk);
  readings.gauge({
    name: 'holdpoint_disk_available_bytes',
    help: 'Bytes that are available on the disk with the state of the agent.',
    read: async () => [{ value: (await disk()).available }],
  });
  readings.gauge({
    name: 'holdpoint_disk_size_bytes',
    help: 'Size of the disk with the state of the agent.',
    read: async () => [{ value: (await disk()).size }],
  });
}

function addShared(readings: Readings, figures: NonNullable<RegistryPorts['shared']>): void {
  readings.counter({
    name: 'holdpoint_store_conflicts_total',
    help: 'Changes refused because another daemon committed first.',
    read: () => [{ value: figures().conflicts }],
  });
  readings.counter({
    name: 'holdpoint_store_takeovers_total',
    help: 'Tasks of dead daemons that this one took over.',
    read: () => [{ value: figures().takeovers }],
  });
  readings.gauge({
    name: 'holdpoint_store_lag_seconds',
    help: 'How long changes of other daemons have waited to be read.',
    read: () => [{ value: figures().lag / 1_000 }],
  });
  readings.gauge({
    name: 'holdpoint_store_keeper',
    help: 'Whether this daemon runs the chats, the push notifications and the log file of the agent.',
    read: () => [{ value: figures().isKeeper ? 1 : 0 }],
  });
  readings.gauge({
    name: 'holdpoint_store_jobs',
    help: 'Jobs that the daemons share, by queue and state, some seconds old.',
    labelNames: ['queue', 'state'],
    async read() {
      const queues = await figures().jobs();
      return queues.flatMap(({ queue, ...counts }) =>
        Object.entries(counts).map(([state, value]) => ({ labels: { queue, state }, value })),
      );
    },
  });
}
