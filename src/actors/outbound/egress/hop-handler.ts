import type { Dispatcher } from 'undici';
import { EgressError } from './egress-error.ts';
import { ForwardingHandler } from './forwarding-handler.ts';

/**
 * Reports the result of a hop whose name was allowed, once: `null` right before its first byte is sent, or the refusal
 * of its address. If the report throws, the request is not sent.
 */
export class HopHandler extends ForwardingHandler {
  readonly #settle: (refusal: EgressError | null) => void;
  #settled = false;

  constructor(next: Dispatcher.DispatchHandler, settle: (refusal: EgressError | null) => void) {
    super(next);
    this.#settle = settle;
  }

  override onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#say(null);
    super.onRequestStart(controller, context);
  }

  override onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    super.onResponseError(controller, this.#toldOf(error));
  }

  /** If reporting a failure throws, returns that error instead, as nothing would catch it. */
  #toldOf(error: Error): Error {
    try {
      this.#say(error instanceof EgressError ? error : null);
      return error;
    } catch (failure) {
      return failure instanceof Error ? failure : new Error(String(failure));
    }
  }

  #say(refusal: EgressError | null): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#settle(refusal);
  }
}
