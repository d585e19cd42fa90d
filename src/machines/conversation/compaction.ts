/** What of a conversation is left out. */
export interface LeftOut {
  /** Results that became one line. */
  results: number;
  /** Messages of before the run. */
  messages: number;
  /** Turns of the run. */
  turns: number;
}

/** What was left out of a conversation for its budget, in estimated tokens with all that is always told. */
export interface Compaction extends LeftOut {
  tokensBefore: number;
  tokensAfter: number;
}
