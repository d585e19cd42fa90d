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

/** The semantic conventions that define the attribute names. */
const schemaUrl = 'https://opentelemetry.io/schemas/1.37.0';

/** Returns the agent's tracer; must not be cached, since a cached one would continue to use stopped tracing. */
export function tracer(): Tracer {
  return trace.getTracerProvider().getTracer('holdpoint', undefined, { schemaUrl });
}

/**
 * Runs a function inside a span that ends with it, and passes the span; a rejection marks the span as failed and is
 * rethrown.
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

/** Returns the name of an error without any content. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  const { code, kind } = error as { code?: unknown; kind?: unknown };
  const named = [kind, code].find((one) => typeof one === 'string');
  return String(named ?? error.name).replaceAll(' ', '_');
}

/** Runs a request to another service inside an `http.client` span. */
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
 * Returns the headers that propagate the current trace: `traceparent` and `tracestate`. The caller's `baggage` may be
 * confidential, so it is included only on request. Empty while tracing is off.
 */
export function outboundTraceHeaders({ baggage = false } = {}): Record<string, string> {
  const headers: Record<string, string> = {};
  propagation.inject(context.active(), headers);
  if (!baggage) delete headers['baggage'];
  return headers;
}
