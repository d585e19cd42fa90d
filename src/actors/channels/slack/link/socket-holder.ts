import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';

/** Keeps hold of the socket that a request was upgraded to, or of why it was not, which undici's WebSocket hides. */
export class SocketHolder {
  #socket: Duplex | null = null;
  #isOver = false;
  #fault: Error | null = null;

  /** Why the request failed; `null` when it did not. */
  get fault(): Error | null {
    return this.#fault;
  }

  /** Goes into the dispatcher that the request is sent with. */
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

  /** Ends the socket, once what was written has gone out, and every one that comes later. */
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

/** Passes everything on to a handler, and shows on the way what came of it. */
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
