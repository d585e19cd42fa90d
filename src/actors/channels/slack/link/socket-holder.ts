import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';

/** Captures the upgraded socket of a request, or its failure, which undici's WebSocket hides. */
export class SocketHolder {
  #socket: Duplex | null = null;
  #isOver = false;
  #fault: Error | null = null;

  /** The error of the request; `null` if it did not fail. */
  get fault(): Error | null {
    return this.#fault;
  }

  /** Interceptor for the dispatcher that sends the request. */
  readonly interceptor: Dispatcher.DispatcherComposeInterceptor =
    (dispatch) => (options, handler) =>
      dispatch(
        options,
        holding(handler, {
          upgraded: (socket) => this.#hold(socket),
          failed: (error) => {
            this.#fault ??= error;
          },
        }),
      );

  /** Closes the socket after flushing pending writes, and destroys any later socket. */
  destroy(): void {
    this.#isOver = true;
    const socket = this.#socket;
    this.#socket = null;
    if (socket !== null && !socket.destroyed) socket.end(() => socket.destroy());
  }

  #hold(socket: Duplex): void {
    if (this.#isOver) socket.destroy();
    else this.#socket = socket;
  }
}

/** Wraps a handler and reports the upgrade or failure. */
function holding(
  next: Dispatcher.DispatchHandler,
  told: { upgraded: (socket: Duplex) => void; failed: (error: Error) => void },
): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (...args) => next.onRequestStart?.(...args),
    onRequestUpgrade: (controller, statusCode, headers, socket) => {
      told.upgraded(socket);
      next.onRequestUpgrade?.(controller, statusCode, headers, socket);
    },
    onResponseStarted: () => next.onResponseStarted?.(),
    onResponseStart: (...args) => next.onResponseStart?.(...args),
    onResponseData: (...args) => next.onResponseData?.(...args),
    onResponseEnd: (...args) => next.onResponseEnd?.(...args),
    onResponseError: (controller, error) => {
      told.failed(error);
      next.onResponseError?.(controller, error);
    },
    onBodySent: (chunk) => next.onBodySent?.(chunk),
    onRequestSent: () => next.onRequestSent?.(),
  };
}
