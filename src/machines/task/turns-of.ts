import type { Exchange, SaidTurn } from './task.ts';

/** A turn of the model with the calls of it that have ended, as a further turn is told of it. */
export interface ToldTurn {
  /** What the model said; `null` where that was not kept, as in older snapshots. */
  said: SaidTurn | null;
  exchanges: Exchange[];
  /** How many exchanges there are up to its last one. */
  until: number;
}

/** Groups the calls that have ended by the turns that asked for them, oldest first; one that no turn names stands alone. */
export function turnsOf(
  exchanges: readonly Exchange[],
  said: readonly SaidTurn[],
): readonly ToldTurn[] {
  const first = said[0]?.after ?? exchanges.length;
  const alone = exchanges
    .slice(0, first)
    .map((exchange, index) => ({ said: null, exchanges: [exchange], until: index + 1 }));
  const turns = said.map((turn, index) => {
    const until = Math.min(said[index + 1]?.after ?? exchanges.length, exchanges.length);
    return { said: turn, exchanges: exchanges.slice(turn.after, until), until };
  });
  return [...alone, ...turns.filter((turn) => turn.exchanges.length > 0)];
}
