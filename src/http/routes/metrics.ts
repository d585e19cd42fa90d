import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { TaskSystem } from '../../actors/system.ts';
import type { RoutedContext } from '../request-state.ts';

/** `GET /metrics`: the state of the agent and its process as Prometheus text (contract section 5). */
export function metrics({ system }: { system: TaskSystem }) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const deferred = new Gauge({
    name: 'holdpoint_deferrals_pending',
    help: 'Tool calls that wait for a decision.',
    registers: [registry],
  });
  const live = new Gauge({
    name: 'holdpoint_tasks_live',
    help: 'Tasks that have an actor in memory.',
    registers: [registry],
  });
  return async function metricsText(ctx: RoutedContext) {
    const load = system.load();
    deferred.set(load.deferred);
    live.set(load.live);
    ctx.body = await registry.metrics();
    ctx.type = registry.contentType;
  };
}
