import type { ScriptIsolation } from './run-isolated.ts';

/** Holds scripts back until egress is open, because tools are made first. */
export class ScriptGate {
  #isolation: ScriptIsolation | null = null;

  /** Lets scripts run, kept apart like this. */
  open(isolation: ScriptIsolation): void {
    this.#isolation = isolation;
  }

  /** How scripts are kept apart. Throws before `open`, so that none runs without its proxy. */
  isolation(): ScriptIsolation {
    if (this.#isolation === null) throw new Error('the egress of scripts is not open');
    return this.#isolation;
  }
}
