/** A destination of audit log lines, with one connection at a time. */
export interface SinkTarget {
  /** Resolves once the destination accepts lines. Rejects with a SinkError if it does not. */
  connect(signal: AbortSignal): Promise<void>;
  /**
   * Resolves once the destination has accepted the lines. Rejects if it has not; some lines may have arrived
   * nevertheless.
   */
  deliver(lines: readonly Uint8Array[], signal: AbortSignal): Promise<void>;
  /** Resolves when the destination disconnects; never resolves for one without a connection. */
  hungUp(): Promise<void>;
  disconnect(): void;
}

/** A sink currently accepts no lines; the message gives the reason without secrets. */
export class SinkError extends Error {
  readonly code = 'sink_failed';
}
