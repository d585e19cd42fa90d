import {
  type Attributes,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';

/** The tracer of the agent; one that was kept would go on feeding a tracing that has ended. */
export function tracer(): Tracer {
  return trace.getTracer('holdpoint');
}

/**
 * Runs work inside a span that ends with it, and hands it the span; a rejection marks the span as failed
 * and is passed on.
 */
export function inSpan<Result>(
  name: string,
  attributes: Attributes,
  run: (span: Span) => Promise<Result>,
  kind: SpanKind = SpanKind.INTERNAL,
): Promise<Result> {
  return tracer().startActiveSpan(name, { attributes, kind }, async (span) => {
    try {
      return await run(span);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Runs a call to another service inside its `http.client` span. */
export function inClientSpan<Result>(
  { method, url }: { method: string; url: URL },
  run: () => Promise<Result>,
): Promise<Result> {
  const attributes = { 'http.request.method': method, 'server.address': url.hostname };
  return inSpan('http.client', attributes, run, SpanKind.CLIENT);
}

/**
 * The headers that carry the trace of the work under way to whoever is called: `traceparent` and
 * `tracestate`. The caller's `baggage` may hold what is nobody else's business, so it goes along only when
 * asked for. Empty while tracing is off.
 */
export function outboundTraceHeaders({ baggage = false } = {}): Record<string, string> {
  const headers: Record<string, string> = {};
  propagation.inject(context.active(), headers);
  if (!baggage) delete headers['baggage'];
  return headers;
}
