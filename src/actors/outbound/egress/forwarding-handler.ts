import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';

type Handler = Dispatcher.DispatchHandler;
type Controller = Dispatcher.DispatchController;

/** Forwards every event of a request to its own handler; subclasses override what differs. */
export class ForwardingHandler implements Handler {
  readonly #next: Handler;

  constructor(next: Handler) {
    this.#next = next;
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#next.onRequestStart?.(controller, context);
  }

  onRequestUpgrade(
    controller: Controller,
    statusCode: number,
    headers: IncomingHttpHeaders,
    socket: Duplex,
  ): void {
    this.#next.onRequestUpgrade?.(controller, statusCode, headers, socket);
  }

  onResponseStarted(): void {
    this.#next.onResponseStarted?.();
  }

  onResponseStart(
    controller: Controller,
    statusCode: number,
    headers: IncomingHttpHeaders,
    statusMessage?: string,
  ): void {
    this.#next.onResponseStart?.(controller, statusCode, headers, statusMessage);
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.#next.onResponseData?.(controller, chunk);
  }

  onResponseEnd(controller: Controller, trailers: IncomingHttpHeaders): void {
    this.#next.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: Controller, error: Error): void {
    this.#next.onResponseError?.(controller, error);
  }

  onBodySent(chunk: Buffer): void {
    this.#next.onBodySent?.(chunk);
  }

  onRequestSent(): void {
    this.#next.onRequestSent?.();
  }
}
