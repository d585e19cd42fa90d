import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Log } from '../ports/log.ts';

export interface SpanExporterOptions {
  /** OTLP/JSON endpoint. */
  endpoint: string;
  headers: Record<string, string>;
  fetch: typeof globalThis.fetch;
  log: Log;
  /** Returns the policy's reason for blocking a request; `null` for any other failure. */
  refusalOf?: (error: unknown) => string | null;
}

/** A failed request, described without any sent data. */
class PostError extends Error {
  readonly code = 'post_failed';
}

/** Timeout of one request, in milliseconds. */
export const postDeadline = 10_000;

/**
 * Posts spans to a collector. Undeliverable spans are dropped; the log reports once that the collector is unreachable,
 * and once that it is back.
 */
export class FetchSpanExporter implements SpanExporter {
  readonly #options: SpanExporterOptions;
  readonly #underWay = new Set<Promise<void>>();
  readonly #stopped = new AbortController();
  #isFailing = false;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    const delivering = this.#deliver(spans, done).finally(() => this.#underWay.delete(delivering));
    this.#underWay.add(delivering);
  }

  /** Resolves when every running request is answered. */
  async forceFlush(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** Aborts the running requests. */
  async shutdown(): Promise<void> {
    await this.forceFlush();
    this.abort();
  }

  /** Aborts running requests. */
  abort(): void {
    this.#stopped.abort();
  }

  async #deliver(spans: ReadableSpan[], done: (result: ExportResult) => void): Promise<void> {
    try {
      await this.#post(spans);
      this.#noteAnswer();
    } catch (error) {
      this.#noteFailure(error, spans.length);
    }
    // Reports success even for lost spans: the library would log every loss, and nothing would retry.
    done({ code: ExportResultCode.SUCCESS });
  }

  async #post(spans: ReadableSpan[]): Promise<void> {
    const { endpoint, headers, fetch } = this.#options;
    const body = JsonTraceSerializer.serializeRequest(spans);
    if (body === undefined) throw new PostError('the spans cannot be written as JSON');
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: Buffer.from(body),
      redirect: 'error',
      signal: AbortSignal.any([AbortSignal.timeout(postDeadline), this.#stopped.signal]),
    });
    // Cancels without waiting for the response body.
    await response.body?.cancel();
    if (!response.ok) throw new PostError(`the collector answered ${response.status}`);
  }

  #noteAnswer(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#options.log.info({}, 'tracing: the collector accepts spans again');
  }

  #noteFailure(error: unknown, lost: number): void {
    if (this.#isFailing || this.#stopped.signal.aborted) return;
    this.#isFailing = true;
    const { origin } = new URL(this.#options.endpoint);
    this.#options.log.warn(
      { collector: origin, error: this.#options.refusalOf?.(error) ?? reasonOf(error), lost },
      'tracing: the collector rejects spans; spans are dropped meanwhile',
    );
  }
}

/** Returns only the code of a client's error: its message may quote a header, which may be a secret. */
function reasonOf(error: unknown): string {
  if (error instanceof PostError) return error.message;
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; depth += 1) {
    if (cause.name === 'TimeoutError') return `no answer in ${postDeadline / 1_000} s`;
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    cause = cause.cause;
  }
  return 'no answer';
}
