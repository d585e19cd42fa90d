import type { SpokenTurn } from '../../actors/tasks/tasks.ts';

/** A piece of a model's output. `isFirst` is true for the first piece of a turn. */
export interface SaidPiece {
  text: string;
  isFirst: boolean;
}

/** Matches an empty piece, and a piece that ends inside a surrogate pair. */
const isUnfinished = /(^|[\uD800-\uDBFF])$/;

/** Reads the output of model turns incrementally. */
export class HeardTurns {
  #turn: SpokenTurn | null = null;
  #read = 0;

  /**
   * Returns the output of a turn that was not returned before; `null` if there is none. A piece that ends inside a
   * character waits for the next one.
   */
  next(turn: SpokenTurn): SaidPiece | null {
    const isFirst = turn !== this.#turn;
    const from = isFirst ? 0 : this.#read;
    let until = turn.pieces.length;
    while (until > from && isUnfinished.test(turn.pieces[until - 1] ?? '')) until -= 1;
    if (until === from) return null;
    this.#turn = turn;
    this.#read = until;
    return { text: turn.pieces.slice(from, until).join('').toWellFormed(), isFirst };
  }
}
