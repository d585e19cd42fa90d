/** The text of a running model turn, in the chunks in which it arrived; not the answer yet. */
export interface SpokenTurn {
  readonly pieces: readonly string[];
}

/** Publishes a model's output during a turn. */
export interface Speaker {
  say(text: string): void;
  /** Ends the turn with any result. */
  end(): void;
}

/** The running model turn of each task. */
export class SpokenTurns {
  readonly #publish: (id: string, text: string) => void;
  readonly #turns = new Map<string, SpokenTurn>();

  /** `publish` sends a piece of a task's turn to the subscribers of the task. */
  constructor(publish: (id: string, text: string) => void) {
    this.#publish = publish;
  }

  /** Starts a turn of a task. */
  start(id: string): Speaker {
    const pieces: string[] = [];
    const turn = { pieces };
    this.#turns.set(id, turn);
    return {
      say: (text) => {
        pieces.push(text);
        this.#publish(id, text);
      },
      end: () => {
        if (this.#turns.get(id) === turn) this.#turns.delete(id);
      },
    };
  }

  /** Returns the running turn of a task. */
  of(id: string): SpokenTurn | undefined {
    return this.#turns.get(id);
  }
}
