import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import { EgressLimitError } from './egress-error.ts';
import { ForwardingHandler } from './forwarding-handler.ts';
import type { EgressLimits } from './limits.ts';

type Controller = Dispatcher.DispatchController;

/** Limits enforced on a response. */
export interface AnswerLimits {
  host: string;
  limits: EgressLimits;
  /** Time by which the response must be complete, on the scale of `performance.now()`; `null` for none. */
  deadline: number | null;
}

/** Aborts a response that exceeds its time or size limit with an EgressLimitError. */
export class LimitHandler extends ForwardingHandler {
  readonly #host: string;
  readonly #limits: EgressLimits;
  readonly #timer: NodeJS.Timeout | undefined;
  #controller: Controller | null = null;
  #late = false;
  #received = 0;

  constructor(next: Dispatcher.DispatchHandler, { host, limits, deadline }: AnswerLimits) {
    super(next);
    this.#host = host;
    this.#limits = limits;
    if (deadline === null) return;
    this.#timer = setTimeout(
      () => this.#expire(),
      Math.max(0, Math.ceil(deadline - performance.now())),
    );
  }

  override onRequestStart(controller: Controller, context: unknown): void {
    this.#controller = controller;
    super.onRequestStart(controller, context);
    if (this.#late) this.#expire();
  }

  override onRequestUpgrade(
    controller: Controller,
    statusCode: number,
    headers: IncomingHttpHeaders,
    socket: Duplex,
  ): void {
    clearTimeout(this.#timer);
    super.onRequestUpgrade(controller, statusCode, headers, socket);
  }

  override onResponseData(controller: Controller, chunk: Buffer): void {
    this.#received += chunk.length;
    if (this.#received <= (this.#limits.bytes ?? Infinity)) {
      super.onResponseData(controller, chunk);
    } else {
      controller.abort(this.#tooLong());
    }
  }

  override onResponseEnd(controller: Controller, trailers: IncomingHttpHeaders): void {
    clearTimeout(this.#timer);
    super.onResponseEnd(controller, trailers);
  }

  override onResponseError(controller: Controller, error: Error): void {
    clearTimeout(this.#timer);
    super.onResponseError(controller, this.#describe(error));
  }

  #expire(): void {
    this.#late = true;
    const why = `did not answer completely in ${this.#limits.total} ms`;
    this.#controller?.abort(new EgressLimitError(this.#host, why));
  }

  #tooLong(): EgressLimitError {
    return new EgressLimitError(this.#host, `answered more than ${this.#limits.bytes} bytes`);
  }

  /** Words undici's own timeouts like the other limits. */
  #describe(error: Error): Error {
    switch ('code' in error ? error.code : '') {
      case 'UND_ERR_CONNECT_TIMEOUT':
        return new EgressLimitError(this.#host, 'did not accept a connection in time');
      case 'UND_ERR_HEADERS_TIMEOUT':
        return new EgressLimitError(this.#host, `sent no headers in ${this.#limits.headers} ms`);
      case 'UND_ERR_BODY_TIMEOUT':
        return new EgressLimitError(this.#host, `sent nothing for ${this.#limits.idle} ms`);
      case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
        return this.#tooLong();
      default:
        return error;
    }
  }
}
