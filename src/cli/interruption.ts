import { CliError, exitCodes } from './cli-error.ts';

/** Thrown when the reader of stdout is gone. Ends the command silently. */
export class ReaderGone extends Error {}

export interface Listening {
  /** `false` for a command that continues without a reader of its stdout. */
  isReaderNeeded?: boolean;
  /**
   * Receives signals without a meaning for a daemon, which then ignores them. Without this callback, such a signal ends
   * the command.
   */
  onStray?: (signal: string) => void;
}

/** Aborts a command early: on Ctrl-C, SIGTERM, or the closing of its stdout. */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #exit: (reason: CliError) => never;
  #isHeard = false;
  #isReaderNeeded = true;
  #wasInterrupted = false;
  #isLeftToChild = false;
  #onStray: ((signal: string) => void) | null = null;

  /** `exit` prints the reason and exits immediately. */
  constructor(exit: (reason: CliError) => never) {
    this.#exit = exit;
  }

  /**
   * Returns a signal that aborts when the command must end; its reason is the error to throw. A command that calls this
   * must end soon after the abort. Any other command is ended immediately.
   */
  listen({ isReaderNeeded = true, onStray }: Listening = {}): AbortSignal {
    this.#isHeard = true;
    this.#isReaderNeeded = isReaderNeeded;
    this.#onStray = onStray ?? null;
    return this.#controller.signal;
  }

  /** Ignores Ctrl-C, which a child process on the same terminal handles, until the returned function is called. */
  leaveToChild(): () => void {
    this.#isLeftToChild = true;
    return () => {
      this.#isLeftToChild = false;
    };
  }

  /** Ends the command on Ctrl-C; a second Ctrl-C exits immediately. */
  interrupt(): void {
    if (this.#isLeftToChild) return;
    if (this.#wasInterrupted) this.#exit(interrupted());
    this.#wasInterrupted = true;
    this.terminate();
  }

  /** Ends the command gracefully. Repeated signals do not force an exit, because senders may repeat them. */
  terminate(): void {
    if (!this.#isHeard) this.#exit(interrupted());
    this.#controller.abort(interrupted());
  }

  /** Handles a signal without a meaning for a daemon. */
  stray(signal: string): void {
    if (this.#onStray === null) this.terminate();
    else this.#onStray(signal);
  }

  /** Ends a streaming command when the reader of its stdout is gone. */
  readerGone(): void {
    if (this.#isReaderNeeded) this.#controller.abort(new ReaderGone());
  }
}

function interrupted(): CliError {
  return new CliError('interrupted', { code: 'interrupted', exitCode: exitCodes.interrupted });
}
