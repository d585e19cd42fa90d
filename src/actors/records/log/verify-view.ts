import type { LogView } from './log-view.ts';
import { sha256Hex } from './node-crypto.ts';
import type { ChainVerdict } from './verdict.ts';
import { verifyChain } from './verify-chain.ts';

/**
 * Verifies the chain of an open log from its first remaining line; line numbers of breaks count from there. Rejects
 * with the signal's reason when it aborts.
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
