/** Turns texts into vectors whose angles tell how alike the texts are. */
export interface Embedder {
  /**
   * Returns one vector a text, in order, all of one length. Rejects with an EmbedderError, or with the
   * reason of the signal when that aborts.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<number[][]>;
}

/** What can be wrong with an embedder. */
export type EmbedderProblem =
  | 'missing_key'
  | 'timed_out'
  | 'unreachable'
  | 'refused'
  | 'bad_answer';

/**
 * A failure of an embedder. The message says what happened in our own words: what a provider answers may
 * quote the key or the text that was sent, so neither its words nor its error are kept.
 */
export class EmbedderError extends Error {
  override readonly name = 'EmbedderError';
  readonly code: EmbedderProblem;

  constructor(code: EmbedderProblem, message: string) {
    super(message);
    this.code = code;
  }
}
