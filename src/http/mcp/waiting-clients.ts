/** The number of requests at this daemon that wait for each call. */
export class WaitingClients {
  readonly #byTask = new Map<string, number>();

  /** Counts one request for a call. Returns a function that uncounts it and returns true if it was the last one. */
  enter(taskId: string): () => boolean {
    this.#byTask.set(taskId, (this.#byTask.get(taskId) ?? 0) + 1);
    let isIn = true;
    return () => {
      if (!isIn) return false;
      isIn = false;
      const left = (this.#byTask.get(taskId) ?? 1) - 1;
      if (left > 0) this.#byTask.set(taskId, left);
      else this.#byTask.delete(taskId);
      return left === 0;
    };
  }
}
