import { type Attributes, type Span, SpanStatusCode, trace } from '@opentelemetry/api';

const tracer = trace.getTracer('holdpoint');

/**
 * Runs work inside a span that ends with it, and hands it the span; a rejection marks the span as failed
 * and is passed on.
 */
export function inSpan<Result>(
  name: string,
  attributes: Attributes,
  run: (span: Span) => Promise<Result>,
): Promise<Result> {
  return tracer.startActiveSpan(name, { attributes }, async (span) => {
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
