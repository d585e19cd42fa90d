import type { ScriptIsolation } from './run-isolated.ts';

/** Blocks scripts until egress is available, because tools are created first. */
export class ScriptGate {
  #isolation: ScriptIsolation | null = null;

  /** Allows scripts to run with the given isolation. */
  open(isolation: ScriptIsolation): void {
    this.#isolation = isolation;
  }

  /** Script isolation. Throws until `open` is called, so no script ever runs without its proxy. */
  isolation(): ScriptIsolation {
    if (this.#isolation === null) throw new Error('the egress of scripts is not open');
    return this.#isolation;
  }
}
