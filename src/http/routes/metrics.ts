import type { TaskSystem } from '../../actors/system.ts';
import type { RoutedContext } from '../request-state.ts';

/** `GET /metrics`: the state of the agent and its process as Prometheus text (contract section 5). */
export function metrics({ system }: { system: TaskSystem }) {
  let registry: ReturnType<typeof createRegistry> | null = null;
  return async function metricsText(ctx: RoutedContext) {
    registry ??= createRegistry(system);
    const { contentType, text } = await (await registry)();
    ctx.body = text;
    ctx.type = contentType;
  };
}

/** The metrics library is loaded with the first request for metrics, not with the daemon. */
async function createRegistry(system: TaskSystem) {
  const { collectDefaultMetrics, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
  const deferred = gauge('holdpoint_deferrals_pending', 'Tool calls that wait for a decision.');
  const live = gauge('holdpoint_tasks_live', 'Tasks that have an actor in memory.');
  return async () => {
    const load = system.load();
    deferred.set(load.deferred);
    live.set(load.live);
    return { contentType: registry.contentType, text: await registry.metrics() };
  };
}
