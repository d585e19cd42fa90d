/**
 * Runs passes one at a time, each after the event-loop turn in which it was requested. Repeated requests are merged; a
 * request during a pass runs after it.
 */
export class Passes {
  readonly #run: () => Promise<void>;
  #isAsked = false;
  #underway: Promise<void> | null = null;

  /** `run` must not reject. */
  constructor(run: () => Promise<void>) {
    this.#run = run;
  }

  /** Requests a pass; it starts asynchronously. */
  ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    if (this.#underway === null) this.#await();
  }

  /** True while a pass is running. */
  get isUnderway(): boolean {
    return this.#underway !== null;
  }

  /** Resolves when the running pass has ended. */
  async over(): Promise<void> {
    await this.#underway;
  }

  #await(): void {
    setImmediate(() => {
      this.#isAsked = false;
      this.#underway = this.#run().finally(() => {
        this.#underway = null;
        if (this.#isAsked) this.#await();
      });
    });
  }
}
