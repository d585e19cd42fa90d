import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Log } from '../ports.ts';

export interface SpanExporterOptions {
  /** Where they are posted, as OTLP in JSON. */
  endpoint: string;
  headers: Record<string, string>;
  fetch: typeof globalThis.fetch;
  log: Log;
  /** Says in words why a policy held a post back; `null` for any other failure. */
  refusalOf?: (error: unknown) => string | null;
}

/** A post that came to nothing, in words without anything that was sent. */
class PostError extends Error {
  readonly code = 'post_failed';
}

/** How long one post may take, in milliseconds. */
export const postDeadline = 10_000;

/**
 * Posts spans to a collector. What cannot be delivered is dropped: the log says once that the collector
 * is out of reach, and once that it is back.
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

  /** Resolves when every post under way has been answered. */
  async forceFlush(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** Gives the posts under way up. */
  async shutdown(): Promise<void> {
    await this.forceFlush();
    this.abort();
  }

  /** Gives up what is under way. */
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
    // A loss counts as delivered: the library would log every one, and nobody would try again.
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
    // Whatever it says besides is not waited for.
    await response.body?.cancel();
    if (!response.ok) throw new PostError(`the collector answered ${response.status}`);
  }

  #noteAnswer(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#options.log.info({}, 'tracing: the collector takes spans again');
  }

  #noteFailure(error: unknown, lost: number): void {
    if (this.#isFailing || this.#stopped.signal.aborted) return;
    this.#isFailing = true;
    const { origin } = new URL(this.#options.endpoint);
    this.#options.log.warn(
      { collector: origin, error: this.#options.refusalOf?.(error) ?? reasonOf(error), lost },
      'tracing: the collector takes no spans; they are dropped until it does',
    );
  }
}

/** Only codes of what a client throws are told: its message may quote a header, which may be a secret. */
function reasonOf(error: unknown): string {
  if (error instanceof PostError) return error.message;
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; depth += 1) {
    if (cause.name === 'TimeoutError') return `no answer in ${postDeadline / 1_000} s`;
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    cause = cause.cause;
  }
  return 'no answer';
}
