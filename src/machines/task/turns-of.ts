import type { Exchange, SaidTurn } from '../domain/task.ts';

/** A model turn with its finished calls, as sent in a later turn. */
export interface ToldTurn {
  /** The model's output; `null` for a call without a turn of a model. */
  said: SaidTurn | null;
  exchanges: Exchange[];
  /** Number of exchanges up to and including its last one. */
  until: number;
}

/** Groups finished calls by the turns that requested them, oldest first. A call without a turn forms its own group. */
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
