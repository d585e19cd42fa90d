/** The omitted parts of a conversation. */
export interface LeftOut {
  /** Number of results reduced to one line. */
  results: number;
  /** Number of omitted messages from before the run. */
  messages: number;
  /** Number of omitted turns of the run. */
  turns: number;
}

/**
 * The parts omitted from a conversation for its token budget, and the estimated tokens including the parts that are
 * always sent.
 */
export interface Compaction extends LeftOut {
  tokensBefore: number;
  tokensAfter: number;
}
