/** An implementation broke a promise. The message is one sentence. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
}

/** Throws BrokenPromise with a message unless the condition holds. */
export function promised(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new BrokenPromise(otherwise);
}
