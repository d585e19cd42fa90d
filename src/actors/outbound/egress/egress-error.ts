import type { EgressMode } from '../../ports/egress.ts';

/** Content of a refusal: the host, the reason worded to follow the host's name, and the egress mode. */
export interface Refusal {
  host: string;
  why: string;
  mode: EgressMode;
}

/** Refusal reason for the daemon's own listeners. */
export const itself = 'is the agent itself';

/** Refusal reason for a port of this machine on which a dashboard or another agent of the workspace listens. */
export const neighbour = 'is a dashboard or another agent of the same workspace';

/** Refusal reason for an address of another daemon over the same store. */
export const fellow = 'is another daemon of the same agent';

/** Closed to tasks in every mode, so the message names no mode. */
const alwaysClosed: ReadonlySet<string> = new Set([itself, neighbour, fellow]);

/** True for a refusal reason that no setting or mode can lift. */
export function isAlwaysClosed(why: string | null): boolean {
  return why !== null && alwaysClosed.has(why);
}

/** The egress policy refused a hop; the message is shown to the tool (docs/contract/egress.md). */
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

/** A response exceeded the time or size limits of its scope. */
export class EgressLimitError extends Error {
  readonly code = 'egress_limit';

  constructor(host: string, why: string) {
    super(`egress stopped: ${host} ${why}`);
  }
}

/** Returns the egress error behind a client's error, such as fetch's `terminated`; `null` if there is none. */
export function egressCause(error: unknown): EgressError | EgressLimitError | null {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; depth += 1) {
    if (cause instanceof EgressError || cause instanceof EgressLimitError) return cause;
    cause = cause.cause;
  }
  return null;
}
