/** The answer to a request for a receipt; `receipt` is a compact JWS. */
export type ReceiptAnswer =
  | { kind: 'issued'; receipt: string }
  /** The agent does not sign its log. */
  | { kind: 'unsigned' }
  /** The log has no line of the call. */
  | { kind: 'unknown' }
  /** The call waits or runs. */
  | { kind: 'underWay' };

/** Issues receipts of calls (docs/contract/audit.md). */
export interface ReceiptSource {
  /** Rejects if the log cannot be read. */
  issue(taskId: string, callId: string): Promise<ReceiptAnswer>;
}
