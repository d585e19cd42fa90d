import { z } from 'zod';
import type { HoldOutcome } from '../../machines/domain/hold.ts';
import type { Task } from '../../machines/domain/task.ts';
import type { JsonObject } from '../../machines/json.ts';
import { newTaskIdForm } from '../../machines/task/task-id.ts';
import { isTagValue, workflowHeaders } from '../../machines/workflow.ts';
import { challengeOf } from './challenge.ts';
import { digest } from './deferral.ts';
import type { ErrorCode } from './error-codes.ts';
import { jsonObject } from './json-object.ts';
import { Problem } from './problem.ts';
import { time, timestamp } from './timestamp.ts';

const short = (most: number) =>
  z
    .string({ error: 'must be a string' })
    .min(1, { error: 'must not be empty' })
    .max(most, { error: `must be at most ${most} characters` });

const sha256 = z
  .string({ error: 'must be a string' })
  .regex(/^[0-9a-f]{64}$/, { error: 'must be a SHA-256 in lower-case hex' });

/** Maximum size of the facts for approvers, in characters of JSON. */
const longestContext = 4_000;

const claim = short(128)
  .regex(/^[\x21-\x7e]+$/, { error: 'must be printable ASCII without spaces' })
  .describe(
    'Chosen by each process. A process with the same claim can receive a lost answer again.',
  );

const tag = z.string({ error: 'must be a string' }).refine(isTagValue, {
  error: 'must be 1 to 256 printable ASCII characters',
});

const workflow = Object.fromEntries(
  workflowHeaders.map(([, key]) => [key, tag.exactOptional()]),
) as Record<string, z.ZodExactOptional<typeof tag>>;

export const holdRequest = z
  .object({
    key: short(256).describe(
      'Idempotency key, chosen by the program: the same key and call are the same hold. Derive it from the session and the call id.',
    ),
    tool: short(128).regex(/^[A-Za-z0-9_.:/@-]+$/, {
      error: 'must have only A-Z a-z 0-9 and _ . : / @ -',
    }),
    args: jsonObject,
    claim: claim.exactOptional(),
    runs_sha256: sha256
      .describe('Digest of what would run, if the program has one.')
      .exactOptional(),
    agent: short(128).describe('Name of the agent that calls the tool.').exactOptional(),
    session: z
      .string({ error: 'must be a string' })
      .regex(newTaskIdForm, {
        error: 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -, the first a letter or a digit',
      })
      .describe('Calls of one session are counted together in conditions.')
      .exactOptional(),
    subject: short(256).describe('The person for whom the agent works.').exactOptional(),
    cwd: short(4_096)
      .regex(/^[^\p{Cc}]+$/u, { error: 'must have no control characters' })
      .describe('The folder in which the call works, which conditions read as `call.cwd`.')
      .exactOptional(),
    context: jsonObject
      .refine((value) => JSON.stringify(value).length <= longestContext, {
        error: `must be at most ${longestContext} characters of JSON`,
      })
      .describe('Facts that approvers see next to the arguments.')
      .exactOptional(),
    ...workflow,
  })
  .meta({ id: 'HoldRequest', description: 'A call that a program asks to run.' });

/** A call that a program asks to run, without its digest. */
export interface AskedHold {
  key: string;
  tool: string;
  args: JsonObject;
  claim?: string;
  runsSha256?: string;
  agent?: string;
  session?: string;
  subject?: string;
  cwd?: string;
  context?: JsonObject;
  tags: Record<string, string>;
}

/** Reads the body of `POST /holds`. Throws a 400 Problem that names the fault. */
export function readHold(body: unknown): AskedHold {
  const read = parsed(holdRequest, body, 'the body must be {"key", "tool", "args"}');
  const {
    key,
    tool,
    args,
    claim: by,
    runs_sha256,
    agent,
    session,
    subject,
    cwd,
    context,
    ...rest
  } = read;
  return {
    ...{ key, tool, args: args as JsonObject },
    ...(by === undefined ? {} : { claim: by }),
    ...(runs_sha256 === undefined ? {} : { runsSha256: runs_sha256 }),
    ...(agent === undefined ? {} : { agent }),
    ...(session === undefined ? {} : { session }),
    ...(subject === undefined ? {} : { subject }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(context === undefined ? {} : { context: context as JsonObject }),
    tags: rest as Record<string, string>,
  };
}

/** Reads the claim in the query of a request for a hold. Throws a 400 Problem that names the fault. */
export function readClaim(value: unknown): string | undefined {
  return parsed(z.object({ claim: claim.optional() }), { claim: value }, '', 'invalid_query').claim;
}

export const holdOutcome = z
  .object({
    status: z.enum(['succeeded', 'failed', 'not_run'], {
      error: 'must be succeeded, failed or not_run',
    }),
    result_sha256: sha256.describe('Digest of the result.').exactOptional(),
    error: short(2_000).describe('Why the call failed.').exactOptional(),
  })
  .meta({ id: 'HoldOutcome' });

/** Reads the body of `POST /holds/{id}/outcome`. Throws a 400 Problem that names the fault. */
export function readOutcome(body: unknown): HoldOutcome {
  const { status, result_sha256, error } = parsed(
    holdOutcome,
    body,
    'the body must be {"status": "succeeded", "failed" or "not_run"}',
  );
  return {
    status,
    ...(result_sha256 === undefined ? {} : { resultSha256: result_sha256 }),
    ...(error === undefined ? {} : { error }),
  };
}

export const hold = z
  .object({
    hold_id: z.string(),
    key: z.string(),
    status: z.enum([
      'pending',
      'allowed',
      'denied',
      'approved',
      'rejected',
      'expired',
      'cancelled',
    ]),
    args: jsonObject
      .describe('The arguments that may run; only with allowed and approved.')
      .exactOptional(),
    args_sha256: digest.exactOptional(),
    reason: z.string().nullable().describe('Why the call may not run.').exactOptional(),
    repeats: z
      .object({
        call_id: z.string(),
        task_id: z.string(),
        key: z.string(),
        outcome: z.enum(['running', 'succeeded', 'unknown']),
      })
      .describe('The earlier call with the same effect, for which the call is denied.')
      .exactOptional(),
    note: z.string().nullable().describe('The note of the approver.').exactOptional(),
    approver: z.string().nullable().exactOptional(),
    receipt: z.string().describe('Path of the receipt of the call.').exactOptional(),
    released: z
      .boolean()
      .describe('True if another process received the call before, or its outcome is known.')
      .exactOptional(),
    outcome: holdOutcome.nullable().exactOptional(),
    to: z.string().describe('Who is asked.').exactOptional(),
    expires_at: time.describe('When the call is denied automatically.').exactOptional(),
    hint: z
      .string()
      .describe('What is wrong with the name of the tool, while the call waits.')
      .exactOptional(),
    retry_after: z.int().describe('Seconds until the next request.').exactOptional(),
  })
  .meta({ id: 'Hold', description: 'A call of another program, waiting or decided.' });

export type HoldStatus = z.infer<typeof hold>['status'];

/** Seconds after which a program asks again for a hold that waits. */
export const retryAfter = 2;

/** Returns the status of a hold. */
export function holdStatus({ state, failure, hold: held }: Task): HoldStatus {
  if (state === 'completed') {
    const withdrawn = held?.account?.withdrawn?.status;
    return withdrawn ?? (held?.granted?.deferralId === undefined ? 'allowed' : 'approved');
  }
  if (state === 'canceled') return 'cancelled';
  if (state !== 'failed') return 'pending';
  switch (failure?.kind) {
    case 'rejected':
      return 'rejected';
    case 'timedOut':
      return 'expired';
    case 'abandoned':
    case 'interrupted':
      return 'cancelled';
    default:
      return 'denied';
  }
}

/**
 * Formats a hold. `isTaken` is true if another process received the call before this answer. Throws the 401 challenge of a
 * call that needs a sign-in at a higher level, and the 429 Problem of a caller with too many waiting calls.
 */
export function presentHold(task: Task, { isTaken }: { isTaken: boolean }): z.input<typeof hold> {
  const challenge = challengeOf(task);
  if (challenge !== null) throw challenge.rest;
  const { id, hold: held, deferral, settled } = task;
  const status = holdStatus(task);
  const known = { hold_id: id, key: held?.key ?? '', status };
  if (status === 'pending') {
    return {
      ...known,
      ...(deferral === null
        ? {}
        : {
            to: deferral.to,
            expires_at: timestamp(deferral.expiresAt),
            args_sha256: deferral.argsSha256,
            ...(deferral.hint === undefined ? {} : { hint: deferral.hint }),
          }),
      retry_after: retryAfter,
    };
  }
  const decided = { note: settled?.note || null, approver: settled?.approver ?? null };
  const { granted, account } = held ?? {};
  if (granted === undefined || account === undefined || account.withdrawn !== undefined) {
    const reason = account?.withdrawn?.reason ?? task.text;
    return { ...known, reason, ...presentRepeated(task), ...decided };
  }
  return {
    ...known,
    args: granted.args,
    args_sha256: granted.argsSha256,
    reason: null,
    ...decided,
    receipt: `/tasks/${id}/calls/${granted.callId}/receipt`,
    released: isTaken,
    outcome: presentOutcome(account.outcome),
  };
}

function presentRepeated({ failure }: Task): Pick<z.input<typeof hold>, 'repeats'> {
  if (failure?.kind !== 'denied' || failure.repeats === undefined) return {};
  const { callId, taskId, key, outcome } = failure.repeats;
  return { repeats: { call_id: callId, task_id: taskId, key, outcome } };
}

function presentOutcome(outcome: HoldOutcome | null): z.input<typeof holdOutcome> | null {
  if (outcome === null) return null;
  const { status, resultSha256, error } = outcome;
  return {
    status,
    ...(resultSha256 === undefined ? {} : { result_sha256: resultSha256 }),
    ...(error === undefined ? {} : { error }),
  };
}

function parsed<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
  whole: string,
  code: ErrorCode = 'invalid_body',
): z.output<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new Problem(code, path === '' ? whole : `${path} ${issue?.message}`);
}
