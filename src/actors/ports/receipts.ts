/** The answer to a request for a receipt; `receipt` is a compact JWS. */
export type ReceiptAnswer =
  | { kind: 'issued'; receipt: string }
  /** The agent does not sign its log. */
  | { kind: 'unsigned' }
  /** The log has no line of the call. */
  | { kind: 'unknown' }
  /** The call waits or runs. */
  | { kind: 'underWay' }
  /** Lines of the call were written before the log was signed. */
  | { kind: 'earlier' }
  /** The log is broken where it states the call, so nothing is signed. */
  | { kind: 'broken'; reason: string };

/** Issues receipts of calls (docs/contract/audit.md). */
export interface ReceiptSource {
  /** Rejects if the log cannot be read. */
  issue(taskId: string, callId: string): Promise<ReceiptAnswer>;
}
