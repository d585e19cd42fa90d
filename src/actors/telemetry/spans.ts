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

/** The semantic conventions whose names the attributes have. */
const schemaUrl = 'https://opentelemetry.io/schemas/1.37.0';

/** The tracer of the agent; one that was kept would go on feeding a tracing that has ended. */
export function tracer(): Tracer {
  return trace.getTracerProvider().getTracer('holdpoint', undefined, { schemaUrl });
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
      span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', kindOf(error));
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Names an error without a word of what was said. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  const { code, kind } = error as { code?: unknown; kind?: unknown };
  const named = [kind, code].find((one) => typeof one === 'string');
  return String(named ?? error.name).replaceAll(' ', '_');
}

/** Runs a call to another service inside its `http.client` span. */
export function inClientSpan<Result>(
  { method, url }: { method: string; url: URL },
  run: () => Promise<Result>,
): Promise<Result> {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const attributes = {
    'http.request.method': method,
    'server.address': url.hostname,
    'server.port': port,
  };
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
