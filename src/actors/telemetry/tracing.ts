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
import type { Log } from '../ports.ts';
import { FetchSpanExporter, postDeadline } from './span-exporter.ts';
import type { SamplerSettings, TracingSettings } from './tracing-settings.ts';

/** Tracing that is on. */
export interface Tracing {
  /** Delivers what it can in five seconds, and switches tracing off. */
  stop(): Promise<void>;
}

export interface TracingPorts {
  log: Log;
  /** The version of the agent, which every span carries. */
  version: string;
  /** Posts the spans. */
  fetch?: typeof globalThis.fetch;
  /** Says in words why a policy held a post back; `null` for any other failure. */
  refusalOf?: (error: unknown) => string | null;
}

/** Spans that wait to be posted; while the queue is full, new ones are dropped. */
const longestQueue = 4_096;

const largestPost = 512;

/** Milliseconds for which a span may wait for others before it is posted. */
const postEvery = 2_000;

/** Milliseconds that the last spans are given when tracing stops. */
const stopGrace = 5_000;

/**
 * Switches tracing on for this process: spans are recorded, batched and posted in the background, and the
 * trace of a caller is taken up and handed on. A process has one tracing; a second one is refused with an
 * Error. Loading this module is what tracing costs at start, so it is to be imported only when it is on.
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
        // Later than the deadline of the post, which knows better what went wrong.
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
