import type { RoutedContext } from '../request-state.ts';
import type { Routes } from '../routes/route.ts';
import type { Measurement } from './measurement.ts';
import type { MetricsPorts } from './metrics-ports.ts';
import type { OpenRegistry } from './open-registry.ts';

/** Maximum number of measurements buffered until the metrics library is loaded. */
const mostBuffered = 1_000;

/** An agent's metrics, and their route in Prometheus format. */
export interface Metrics {
  /** Counts a measurement. */
  hear: (measurement: Measurement) => void;
  /** Counts a request until the returned function is called. */
  begin: () => () => void;
  routes: Routes;
}

/**
 * Creates an agent's metrics. The library is loaded at once for an agent with a token for them, otherwise at the first
 * request for them or when many measurements wait.
 * Concurrent requests share one answer.
 */
export function metricsOf(ports: MetricsPorts): Metrics {
  let inFlight = 0;
  let waiting: Measurement[] = [];
  let opened: OpenRegistry | null = null;
  let opening: Promise<OpenRegistry> | null = null;
  let writing: Promise<string> | null = null;
  const open = (): Promise<OpenRegistry> =>
    (opening ??= import('./open-registry.ts').then(({ openRegistry }) => {
      opened = openRegistry({ ...ports, inFlight: () => inFlight });
      for (const measurement of waiting) opened.observe(measurement);
      waiting = [];
      return opened;
    }));
  const write = async (): Promise<string> => (await open()).text();
  const answer = async (ctx: RoutedContext): Promise<void> => {
    writing ??= write().finally(() => {
      writing = null;
    });
    ctx.body = await writing;
    ctx.type = 'text/plain; version=0.0.4; charset=utf-8';
  };
  const hear = (measurement: Measurement): void => {
    if (opened !== null) return opened.observe(measurement);
    if (waiting.push(measurement) >= mostBuffered) void open();
  };
  // Loading takes tens of milliseconds, so a scrape is prepared before the first caller.
  if (ports.hasMetricsToken === true) void open();
  ports.system.metrics.onMeasured(hear);
  ports.daemon?.onCommit((milliseconds) => hear({ type: 'commit', milliseconds }));
  return {
    hear,
    begin() {
      inFlight += 1;
      return () => void (inFlight -= 1);
    },
    routes: {
      'GET /metrics': {
        id: 'getMetrics',
        tag: 'watching',
        says: 'Shows figures in the text format of Prometheus, with the usual sign-in or the token of `server.metrics`.',
        answers: { 200: { says: 'The figures.', content: { 'text/plain': null } } },
        answer,
      },
    },
  };
}
