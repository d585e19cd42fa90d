import { Counter, Histogram, type Registry } from 'prom-client';
import type { Observe } from './measurement.ts';
import type { RegistryPorts } from './metrics-ports.ts';
import type { Readings } from './readings.ts';

/** Histogram bounds for requests in seconds: a read takes a millisecond, a held send as long as an approver needs. */
const requestBuckets = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600];

const authFailures = ['missing_token', 'rejected', 'invalid', 'provider_unavailable'] as const;

/** Adds the metrics of requests and of callers who are refused. */
export function addRequestMetrics(
  registry: Registry,
  readings: Readings,
  { inFlight, admission }: Pick<RegistryPorts, 'inFlight' | 'admission'>,
): Observe {
  const registers = [registry];
  const requests = new Histogram({
    name: 'holdpoint_http_request_duration_seconds',
    help: 'How long requests took until their answer was sent, held ones included.',
    labelNames: ['route', 'code', 'outcome'],
    buckets: requestBuckets,
    registers,
  });
  const failures = new Counter({
    name: 'holdpoint_auth_failures_total',
    help: 'Requests whose caller was not authenticated, by reason.',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of authFailures) failures.inc({ reason }, 0);
  const limited = new Counter({
    name: 'holdpoint_rate_limited_requests_total',
    help: 'Requests refused because their address called too often.',
    registers,
  });
  readings.gauge({
    name: 'holdpoint_http_requests_in_flight',
    help: 'Requests that are not answered yet, held ones and streams included.',
    read: () => [{ value: inFlight() }],
  });
  readings.counter({
    name: 'holdpoint_admission_fallbacks_total',
    help: 'Requests admitted because the platform was unavailable.',
    read: () => [{ value: admission?.fallbacks() ?? 0 }],
  });
  return (measured) => {
    if (measured.type === 'request') {
      const { route, status: code, outcome, milliseconds } = measured;
      requests.observe({ route, code, outcome }, milliseconds / 1_000);
    } else if (measured.type === 'authFailure') failures.inc({ reason: measured.reason });
    else if (measured.type === 'rateLimited') limited.inc();
  };
}
