/** Statuses of a call that may not run. */
export type DeniedStatus = 'denied' | 'rejected' | 'expired' | 'cancelled';

/** The earlier call with the same effect, for which the gate denies a call. */
export interface RepeatedCall {
  callId: string;
  taskId: string;
  /** The effect, such as `refund:A-2001`. */
  key: string;
  /** `running`, `succeeded` or `unknown`. */
  outcome: string;
}

/** A call may not run. The message is one sentence for the model. */
export class HoldDenied extends Error {
  override readonly name = 'HoldDenied';
  readonly status: DeniedStatus;
  readonly holdId: string;
  readonly reason: string | null;
  /** The note of the approver. */
  readonly note: string | null;
  readonly approver: string | null;
  /** The call that this one repeats; `null` for another reason. */
  readonly repeats: RepeatedCall | null;

  constructor(
    tool: string,
    { status, holdId, reason, note, approver, repeats }: Omit<HoldDenied, keyof Error>,
  ) {
    const why = reason ?? (note === null ? null : `${status}: ${note}`);
    super(`${tool} did not run: ${why ?? status}`);
    this.status = status;
    this.holdId = holdId;
    this.reason = reason;
    this.note = note;
    this.approver = approver;
    this.repeats = repeats;
  }
}

/** The call needs a sign-in at a higher level. Ask again with the same key and a token of that level. */
export class StepUpRequired extends Error {
  override readonly name = 'StepUpRequired';
  /** The level that the call needs. */
  readonly requiredAcr: string | null;
  /** The `WWW-Authenticate` header of the answer. */
  readonly challenge: string | null;

  constructor(tool: string, requiredAcr: string | null, challenge: string | null) {
    super(`${tool} did not run: it needs a sign-in at the level ${requiredAcr ?? 'of the gate'}`);
    this.requiredAcr = requiredAcr;
    this.challenge = challenge;
  }
}

/** The gate gave no usable answer, so the call must not run. */
export class GateUnavailable extends Error {
  override readonly name = 'GateUnavailable';
  /** The HTTP status of the last answer; `null` without one. */
  readonly status: number | null;
  /** The code of the error of the gate, such as `idempotency_key_reused`; `null` without one. */
  readonly code: string | null;

  constructor(
    message: string,
    status: number | null = null,
    { cause, code = null }: { cause?: unknown; code?: string | null } = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.status = status;
    this.code = code;
  }
}

/** Returns the error for an answer that refuses a request; `what` begins its message. */
export function refusedWith(status: number, body: unknown, what = 'the gate answered') {
  const { error, code } = (body ?? {}) as { error?: unknown; code?: unknown };
  const reason = typeof error === 'string' ? `: ${error.slice(0, 300)}` : '';
  const known = typeof code === 'string' ? { code } : {};
  return new GateUnavailable(`${what} ${status}${reason}`, status, known);
}
