/** What a model has said so far in a turn, in the pieces in which it came; none of it is the answer yet. */
export interface SpokenTurn {
  readonly pieces: readonly string[];
  /** True once the turn has ended: what it came to is in the task. */
  readonly isOver: boolean;
}

/** Tells what a model says in one turn to who follows its task. */
export interface Speaker {
  say(text: string): void;
  /** The turn has ended, however it did. */
  end(): void;
}
