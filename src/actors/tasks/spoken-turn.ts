/** The text of a running model turn, in the chunks in which it arrived; not the answer yet. */
export interface SpokenTurn {
  readonly pieces: readonly string[];
  /** True once the turn has ended; its result is then in the task. */
  readonly isOver: boolean;
}

/** Publishes a model's output during a turn to the followers of its task. */
export interface Speaker {
  say(text: string): void;
  /** Ends the turn with any result. */
  end(): void;
}
