import type { TaskSystem } from '../../actors/system.ts';
import { taskStates } from '../../machines/task/task.ts';
import type { RoutedContext } from '../request-state.ts';

/** What the metrics are read from. */
export interface MetricsPorts {
  system: TaskSystem;
  /** `null` while admission is off. */
  admission: { fallbacks(): number } | null;
}

/** `GET /metrics`: the state of the agent and its process as Prometheus text (contract section 5). */
export function metrics({ system, admission }: MetricsPorts) {
  let registry: ReturnType<typeof createRegistry> | null = null;
  return async function metricsText(ctx: RoutedContext) {
    registry ??= createRegistry({ system, admission });
    const { contentType, text } = await (await registry)();
    ctx.body = text;
    ctx.type = contentType;
  };
}

/** The metrics library is loaded with the first request for metrics, not with the daemon. */
async function createRegistry({ system, admission }: MetricsPorts) {
  const { collectDefaultMetrics, Counter, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
  const deferred = gauge('holdpoint_deferrals_pending', 'Tool calls that wait for a decision.');
  const tasks = new Gauge({
    name: 'holdpoint_tasks',
    help: 'Tasks in the store, by state.',
    labelNames: ['state'],
    registers: [registry],
  });
  const live = gauge('holdpoint_tasks_live', 'Tasks that have an actor in memory.');
  new Counter({
    name: 'holdpoint_admission_fallbacks_total',
    help: 'Requests admitted because the platform could not be asked.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(admission?.fallbacks() ?? 0);
    },
  });
  return async () => {
    const load = system.load();
    deferred.set(load.deferred);
    const census = system.census();
    for (const state of taskStates) tasks.set({ state }, census[state] ?? 0);
    live.set(load.live);
    return { contentType: registry.contentType, text: await registry.metrics() };
  };
}
