import type { EgressMode } from '../../ports.ts';

/** What a refusal says: which host, why in words that follow the host's name, and in which mode. */
export interface Refusal {
  host: string;
  why: string;
  mode: EgressMode;
}

/** Said of the daemon's own listeners. */
export const itself = 'is the agent itself';

/** Said of a port of this machine at which a dashboard, or a fellow agent of the workspace, listens. */
export const neighbour = 'is a dashboard or another agent of the same workspace';

/** Said of an address at which a fellow daemon over the same store listens. */
export const fellow = 'is another daemon of the same agent';

/** Closed to tasks in every mode, so that the message names none. */
const alwaysClosed: ReadonlySet<string> = new Set([itself, neighbour, fellow]);

/** True for the reason of a refusal that no setting and no mode lifts. */
export function isAlwaysClosed(why: string | null): boolean {
  return why !== null && alwaysClosed.has(why);
}

/** The egress policy refused a hop; the message is what a tool is told (docs/contract/egress.md). */
export class EgressError extends Error {
  readonly code = 'egress_blocked';
  readonly host: string;
  /** The reason without the host, such as `is not on the allowlist`. */
  readonly why: string;

  constructor({ host, why, mode }: Refusal) {
    super(`egress blocked: ${host} ${why}${isAlwaysClosed(why) ? '' : ` (mode=${mode})`}`);
    this.host = host;
    this.why = why;
  }
}

/** An answer took longer or grew larger than the limits of its scope let it. */
export class EgressLimitError extends Error {
  readonly code = 'egress_limit';

  constructor(host: string, why: string) {
    super(`egress stopped: ${host} ${why}`);
  }
}

/** Finds the egress error behind what a client threw, such as fetch's `terminated`; `null` when there is none. */
export function egressCause(error: unknown): EgressError | EgressLimitError | null {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; depth += 1) {
    if (cause instanceof EgressError || cause instanceof EgressLimitError) return cause;
    cause = cause.cause;
  }
  return null;
}
