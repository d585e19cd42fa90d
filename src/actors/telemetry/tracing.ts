import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  CompositePropagator,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from '@opentelemetry/core';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../ports/log.ts';
import { FetchSpanExporter, postDeadline } from './span-exporter.ts';
import type { SamplerSettings, TracingSettings } from './tracing-settings.ts';

/** Running tracing. */
export interface Tracing {
  /** Delivers pending spans within five seconds, then switches tracing off. */
  stop(): Promise<void>;
}

export interface TracingPorts {
  log: Log;
  /** Version of the agent, included in every span. */
  version: string;
  /** Fetch for sending spans. */
  fetch?: typeof globalThis.fetch;
  /** Returns the policy's reason for blocking a request; `null` for any other failure. */
  refusalOf?: (error: unknown) => string | null;
}

/** Maximum queued spans; while the queue is full, new ones are dropped. */
const longestQueue = 4_096;

const largestPost = 512;

/** Maximum time that a span is batched, in milliseconds. */
const postEvery = 2_000;

/** Time for delivering the last spans when tracing stops, in milliseconds. */
const stopGrace = 5_000;

/**
 * Switches tracing on for this process: spans are recorded, batched and sent in the background, and traces of callers
 * are continued and propagated. A process has a single tracing; a second call throws an Error. Importing this module
 * slows down start-up, so import it only if tracing is on.
 */
export function startTracing(
  settings: TracingSettings,
  { log, version, fetch = globalThis.fetch, refusalOf = () => null }: TracingPorts,
): Tracing {
  const { endpoint, headers, serviceName } = settings;
  const exporter = new FetchSpanExporter({ endpoint, headers, fetch, log, refusalOf });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': version }),
    sampler: samplerOf(settings.sampler),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: longestQueue,
        maxExportBatchSize: largestPost,
        scheduledDelayMillis: postEvery,
        // Longer than the timeout of the request, which reports a more specific reason.
        exportTimeoutMillis: postDeadline + 1_000,
      }),
    ],
  });
  if (!trace.setGlobalTracerProvider(provider)) {
    throw new Error('this process traces already; stop the agent that does first');
  }
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(
    new CompositePropagator({
      propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
    }),
  );
  return { stop: () => stopTracing(provider, exporter) };
}

async function stopTracing(provider: TracerProvider, exporter: FetchSpanExporter): Promise<void> {
  const late = setTimeout(() => exporter.abort(), stopGrace);
  try {
    await provider.shutdown();
  } finally {
    clearTimeout(late);
    trace.disable();
    context.disable();
    propagation.disable();
  }
}

function samplerOf({ followsParent, ratio }: SamplerSettings): Sampler {
  const root = rootSampler(ratio);
  return followsParent ? new ParentBasedSampler({ root }) : root;
}

function rootSampler(ratio: number): Sampler {
  if (ratio === 0) return new AlwaysOffSampler();
  return ratio === 1 ? new AlwaysOnSampler() : new TraceIdRatioBasedSampler(ratio);
}
