import type { LimitStanding } from '../../machines/domain/ledger.ts';
import type { RegistryPorts } from './metrics-ports.ts';
import { type Readings, sharedRead } from './readings.ts';

/** Maximum number of unsettled calls counted at a scrape. */
const mostCounted = 1_000;

/** Adds the metrics of limits, and of calls whose outcome nobody knows. */
export function addLimitMetrics(
  readings: Readings,
  { system: { limits } }: Pick<RegistryPorts, 'system'>,
): void {
  const standings = sharedRead(() => limits.standings());
  const labelNames = ['limit'];
  readings.gauge({
    name: 'holdpoint_limit_used',
    help: 'What is used and reserved of a limit; of one with several values, that of the most used one.',
    labelNames,
    async read() {
      const most = new Map<string, number>();
      for (const one of await standings()) {
        most.set(one.name, Math.max(most.get(one.name) ?? 0, counted(one)));
      }
      return [...most].map(([limit, value]) => ({ labels: { limit }, value }));
    },
  });
  readings.gauge({
    name: 'holdpoint_limit_max',
    help: 'The maximum of a limit.',
    labelNames,
    async read() {
      const all = new Map((await standings()).map(({ name, max }) => [name, Number(max)]));
      return [...all].map(([limit, value]) => ({ labels: { limit }, value }));
    },
  });
  readings.gauge({
    name: 'holdpoint_outcomes_unknown',
    help: 'Calls whose outcome nobody knows, at most 1,000.',
    async read() {
      const { outcomes } = await limits.outcomes({ limit: mostCounted, isOpen: true });
      return [{ value: outcomes.length }];
    },
  });
}

function counted({ used, reserved }: LimitStanding): number {
  return Number(used) + Number(reserved);
}
