/** Converts texts to vectors whose angle measures the similarity of the texts. */
export interface Embedder {
  /**
   * Returns one vector for each text, in order, all of equal length. Rejects with an EmbedderError, or with the
   * signal's reason when it aborts.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<number[][]>;
}

/** Error codes of an embedder. */
export type EmbedderProblem =
  | 'missing_key'
  | 'timed_out'
  | 'unreachable'
  | 'refused'
  | 'bad_answer';

/**
 * A failure of an embedder. The message is in our own words: a provider's response may quote the key or the sent text,
 * so neither its text nor its error is retained.
 */
export class EmbedderError extends Error {
  override readonly name = 'EmbedderError';
  readonly code: EmbedderProblem;

  constructor(code: EmbedderProblem, message: string) {
    super(message);
    this.code = code;
  }
}
