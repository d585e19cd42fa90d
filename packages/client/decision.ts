import { argsDigest, isPlain } from './canonical-json.ts';
import type { Answer } from './connection.ts';
import {
  type DeniedStatus,
  GateUnavailable,
  HoldDenied,
  type RepeatedCall,
  refusedWith,
  StepUpRequired,
} from './errors.ts';

/** Arguments of a call. */
export type Arguments = Record<string, unknown>;

/** The end of a call as its program reports it. */
export interface Outcome {
  status: 'succeeded' | 'failed' | 'not_run';
  /** The result of the call; the gate receives only its SHA-256. */
  result?: unknown;
  /** Why the call failed; approvers see it. */
  error?: string;
}

/** A call that may run. */
export interface Decision<Args extends Arguments = Arguments> {
  /** `allowed` by a rule, or `approved` by a person. */
  status: 'allowed' | 'approved';
  holdId: string;
  key: string;
  /** The arguments that may run, which a rule or an approver may have changed. */
  args: Args;
  argsSha256: string;
  /** The note of the approver. */
  note: string | null;
  approver: string | null;
  /** Path of the receipt of the call. */
  receipt: string | null;
  /** True if an earlier process received this call, and may have run it. */
  wasReleased: boolean;
  /** Reports the end of the call. Throws GateUnavailable. */
  report(outcome: Outcome): Promise<void>;
  /**
   * Runs the call and reports its outcome. Throws HoldReleased for a call that an earlier process received, the reason of an
   * aborted signal, and the error of `run`.
   */
  run<Result>(
    run: (args: Args, decision: Decision) => Result | Promise<Result>,
    options?: RunOptions,
  ): Promise<Result>;
}

/** An earlier process received this call and may have run it. `runAgain: true` runs it again. */
export class HoldReleased extends Error {
  override readonly name = 'HoldReleased';
  readonly decision: Decision;

  constructor(tool: string, decision: Decision) {
    super(
      `${tool} did not run: an earlier process received this call and may have run it; ask with another key, or pass runAgain`,
    );
    this.decision = decision;
  }
}

/** How a decided call runs. */
export interface RunOptions {
  /** Runs a call that an earlier process received, and may have run. */
  runAgain?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** A call that waits for a decision. */
export interface PendingHold {
  status: 'pending';
  holdId: string;
  key: string;
  /** The target of the approval request, such as `channel:slack:#ops`. */
  to: string | null;
  /** When the call expires, in RFC 3339. */
  expiresAt: string | null;
  /** What is wrong with the name of the tool; `null` for a name that the gate lists. */
  hint: string | null;
  /** Milliseconds until the next request. */
  retryAfter: number;
}

/** The call that an answer must be about. */
export interface AskedCall {
  tool: string;
  key: string;
  /** Identifies this request, so that the gate recognises it when it is sent again. */
  claim: string;
}

const identifier = /^[A-Za-z0-9][\w.:-]{0,127}$/;

/**
 * Reads an answer about a hold. Throws HoldDenied, StepUpRequired, and GateUnavailable for an answer that is malformed or about another
 * call.
 */
export async function readHold(
  { status, body, challenge }: Answer,
  { tool, key }: Omit<AskedCall, 'claim'>,
): Promise<Omit<Decision, 'report' | 'run'> | PendingHold> {
  if (!isPlain(body)) throw new GateUnavailable('the answer of the gate is not an object', status);
  if (status === 401 && body['code'] === 'step_up_required') {
    throw new StepUpRequired(tool, text(body['required_acr']), challenge);
  }
  if (status !== 200 && status !== 202) throw refusedWith(status, body);
  const holdId = text(body['hold_id']) ?? '';
  if (body['key'] !== key || !identifier.test(holdId)) {
    throw new GateUnavailable('the gate answered about another call', status);
  }
  const known = { holdId, key };
  switch (body['status']) {
    case 'pending': {
      const seconds = Math.min(Math.max(Number(body['retry_after']) || 1, 1), 60);
      const to = text(body['to']);
      const expiresAt = text(body['expires_at']);
      const hint = text(body['hint']);
      return { ...known, status: 'pending', to, expiresAt, hint, retryAfter: seconds * 1_000 };
    }
    case 'denied':
    case 'rejected':
    case 'expired':
    case 'cancelled':
      throw new HoldDenied(tool, {
        ...{ status: body['status'] satisfies DeniedStatus, holdId, reason: text(body['reason']) },
        ...{ note: text(body['note']), approver: text(body['approver']) },
        repeats: repeatedCall(body['repeats']),
      });
    case 'allowed':
    case 'approved': {
      const wasReleased = body['released'] === true || isPlain(body['outcome']);
      return {
        ...{ ...known, status: body['status'], ...(await argumentsIn(tool, body, status)) },
        ...{ note: text(body['note']), approver: text(body['approver']) },
        ...{ receipt: text(body['receipt']), wasReleased },
      };
    }
    default:
      throw new GateUnavailable('the answer of the gate has no known status', status);
  }
}

function repeatedCall(repeats: unknown): RepeatedCall | null {
  if (!isPlain(repeats)) return null;
  const [callId, taskId] = [text(repeats['call_id']), text(repeats['task_id'])];
  const [key, outcome] = [text(repeats['key']), text(repeats['outcome'])];
  if (callId === null || taskId === null || key === null || outcome === null) return null;
  return { callId, taskId, key, outcome };
}

/** Returns the arguments that may run, if they are plain JSON and have the digest of the answer. */
async function argumentsIn(tool: string, body: Record<string, unknown>, status: number) {
  const { args, args_sha256: argsSha256 } = body;
  if (!isPlain(args)) throw new GateUnavailable('the answer of the gate has no args', status);
  const actual = await argsDigest(tool, args).catch((error: unknown) => {
    throw new GateUnavailable('the args of the answer are not plain JSON', status, {
      cause: error,
    });
  });
  if (actual !== argsSha256) {
    throw new GateUnavailable('the args of the answer do not match args_sha256', status);
  }
  return { args, argsSha256: actual };
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
