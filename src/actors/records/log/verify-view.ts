import type { LogView } from './log-view.ts';
import { sha256Hex } from './node-crypto.ts';
import type { ChainVerdict } from './verdict.ts';
import { verifyChain } from './verify-chain.ts';

/**
 * Verifies the chain of a log that is open, from the first line that is left of it; the line of a break counts from there.
 * Rejects with the reason of the signal once it aborts.
 */
export function verifyLog(log: LogView, signal: AbortSignal): Promise<ChainVerdict> {
  const chunks = log.chunks({ from: log.first, to: log.last }, signal);
  const { pruned } = log;
  return verifyChain(
    [{ name: 'log', chunks }],
    sha256Hex,
    pruned === null ? {} : { continuedFrom: pruned.head },
  );
}
