/**
 * Takes steps back, the latest first, and empties the list. One that fails keeps none of the others from
 * being taken back, such as the lock behind a disk that is full; rejects with the first failure then.
 */
export async function takeBack(steps: (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps.splice(0).toReversed()) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
