import type { RegistryPorts } from './metrics-ports.ts';
import { type Readings, sharedRead } from './readings.ts';

/** Adds the metrics of the channels to approvers and other people. */
export function addChannelMetrics(
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
