/** A place that takes lines of the audit log, as one connection after another. */
export interface SinkTarget {
  /** Resolves once the place takes lines. Rejects with a SinkError when it does not. */
  connect(signal: AbortSignal): Promise<void>;
  /** Resolves once the place has taken the lines. Rejects when it has not; some may have arrived then. */
  deliver(lines: readonly Uint8Array[], signal: AbortSignal): Promise<void>;
  /** Resolves when the place hangs up; never for one that has no connection. */
  hungUp(): Promise<void>;
  /** Closes the connection, if there is one. */
  disconnect(): void;
}

/** A sink that cannot take lines now; the message says why and holds nothing secret. */
export class SinkError extends Error {
  readonly code = 'sink_failed';
}
