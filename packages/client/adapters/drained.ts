/** Resolves with a result, or with the last value of an async generator, which has then ended. */
export async function drained(result: unknown): Promise<unknown> {
  const given: unknown = await result;
  if (typeof given !== 'object' || given === null || !(Symbol.asyncIterator in given)) return given;
  const iterator = (given as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  let last: unknown;
  for (;;) {
    const step = (await iterator.next()) as IteratorResult<unknown, unknown>;
    if (step.done === true) return step.value === undefined ? last : step.value;
    last = step.value;
  }
}
