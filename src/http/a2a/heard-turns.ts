import type { SpokenTurn } from '../../actors/tasks/tasks.ts';

/** A piece of what a model says; `isFirst` when nothing of its turn was told before. */
export interface SaidPiece {
  text: string;
  isFirst: boolean;
}

/** Matches a piece that ends within a character, and one that is empty. */
const isUnfinished = /(^|[\uD800-\uDBFF])$/;

/** Reads the turns of a model piece by piece, as far as each of them has come. */
export class HeardTurns {
  #turn: SpokenTurn | null = null;
  #read = 0;

  /**
   * Returns what a turn says beyond what was read of it; `null` when that is nothing, and of a turn that has ended, as
   * the task says what it came to. A piece that ends within a character waits for the next one.
   */
  next(turn: SpokenTurn): SaidPiece | null {
    if (turn.isOver) return null;
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
