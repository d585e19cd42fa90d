/**
 * Runs passes one at a time, each once the turn of the event loop is over in which it was asked for. However often one
 * is asked for, it runs once; what is asked for during a pass runs after it.
 */
export class Passes {
  readonly #run: () => Promise<void>;
  #isAsked = false;
  #underway: Promise<void> | null = null;

  /** `run` must not reject. */
  constructor(run: () => Promise<void>) {
    this.#run = run;
  }

  /** Asks for a pass that begins later than this. */
  ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    if (this.#underway === null) this.#await();
  }

  /** True while a pass is under way. */
  get isUnderway(): boolean {
    return this.#underway !== null;
  }

  /** Resolves when the pass under way is over. */
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
