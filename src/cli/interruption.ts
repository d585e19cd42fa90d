import { CliError, exitCodes } from './cli-error.ts';

/** Thrown into a command whose reader has gone; it ends the command without a word. */
export class ReaderGone extends Error {}

/** How a command hears what would end it. */
export interface Listening {
  /** `false` for a command that works on when nobody reads its stdout. */
  isReaderNeeded?: boolean;
  /** Hears of the signals that say nothing to a daemon, which then ignores them; they end any other command. */
  onStray?: (signal: string) => void;
}

/** What ends a command early: Ctrl-C, SIGTERM, or the closing of its stdout. */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #exit: (reason: CliError) => never;
  #isHeard = false;
  #isReaderNeeded = true;
  #wasInterrupted = false;
  #onStray: ((signal: string) => void) | null = null;

  /** `exit` tells the reason and leaves at once. */
  constructor(exit: (reason: CliError) => never) {
    this.#exit = exit;
  }

  /**
   * The signal that aborts when the command shall end; its reason is what to throw. Whoever takes
   * it promises to end soon after; a command that never does is ended where it stands.
   */
  listen({ isReaderNeeded = true, onStray }: Listening = {}): AbortSignal {
    this.#isHeard = true;
    this.#isReaderNeeded = isReaderNeeded;
    this.#onStray = onStray ?? null;
    return this.#controller.signal;
  }

  /** Somebody at the keyboard wants the command to end; a second time at once. */
  interrupt(): void {
    if (this.#wasInterrupted) this.#exit(interrupted());
    this.#wasInterrupted = true;
    this.terminate();
  }

  /** Ends the command in its own way, however often it is said: whoever sends it may send it twice. */
  terminate(): void {
    if (!this.#isHeard) this.#exit(interrupted());
    this.#controller.abort(interrupted());
  }

  /** A signal came that says nothing to a daemon. */
  stray(signal: string): void {
    if (this.#onStray === null) this.terminate();
    else this.#onStray(signal);
  }

  /** Nobody reads what the command prints; one that streams ends. */
  readerGone(): void {
    if (this.#isReaderNeeded) this.#controller.abort(new ReaderGone());
  }
}

function interrupted(): CliError {
  return new CliError('interrupted', { code: 'interrupted', exitCode: exitCodes.interrupted });
}
