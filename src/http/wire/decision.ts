import { z } from 'zod';
import type { GrantRequest } from '../../machines/domain/grant.ts';
import type { Caller } from '../../machines/domain/task.ts';
import { parseDuration } from '../../machines/duration.ts';
import type { DecisionAttempt } from '../../machines/governance/approvers.ts';
import type { DecisionAnswer } from '../../machines/governance/decision.ts';
import type { JsonObject } from '../../machines/json.ts';
import { digest } from './deferral.ts';
import { fieldOf } from './field-of.ts';
import { jsonObject } from './json-object.ts';
import { errorCode, Problem } from './problem.ts';
import { time, timestamp } from './timestamp.ts';

const text = (limit: number) =>
  z.string({ error: 'must be a string' }).refine((value) => [...value].length <= limit, {
    error: `must be at most ${limit} characters`,
  });

const rememberForm =
  'must be {"scope": "task" or "caller", "for": a duration such as 2h, "uses": a number, "when"?: a condition}';

const remember = z
  .object(
    {
      scope: z.enum(['task', 'caller'], { error: rememberForm }),
      for: z.string({ error: rememberForm }).describe('Duration, such as 2h.'),
      uses: z.int({ error: rememberForm }).min(1, { error: rememberForm }),
      when: text(4_096)
        .describe('CEL condition of the calls (default: equal arguments).')
        .optional(),
    },
    { error: rememberForm },
  )
  .describe('The approval releases later calls as well, where the rule allows it.');

/** The optional fields of a decision. */
const decisionDetails = z.object({
  approver: text(254).nullish(),
  approver_email: text(254).nullish(),
  note: text(2_000).nullish(),
  // Only an absent field means any pending call. An empty one is rejected, because it usually comes from an unset
  // variable.
  deferral_id: text(128).optional(),
  args_sha256: text(64).optional(),
  runs_sha256: text(64).optional(),
  args: jsonObject
    .describe('The arguments to run the call with, where its rule allows a change.')
    .optional(),
  remember: remember.optional(),
});

export const decision = decisionDetails
  .extend({ decision: z.string().describe('approve or reject, in any case.') })
  .meta({ id: 'Decision' });

const verb = z.enum(['approve', 'reject']);

export const decided = z
  .object({
    task_id: z.string(),
    deferral_id: z.string(),
    decision: verb,
    approver: z.string(),
    status: z
      .enum(['resolved', 'recorded'])
      .describe('recorded: one of several approvals that a quorum requires.'),
    edited_args_sha256: digest
      .describe('`args_sha256` of the changed call, which is ruled on again.')
      .exactOptional(),
  })
  .meta({ id: 'DecisionAnswer' });

export const decisionConflict = z
  .object({
    error: z.string(),
    code: errorCode,
    decision: verb.exactOptional(),
    approver: z.string().exactOptional(),
    decided_at: time.exactOptional(),
    deferral_id: z.string().exactOptional(),
    args_sha256: digest.exactOptional(),
    runs_sha256: digest.exactOptional(),
  })
  .meta({ id: 'DecisionConflict' });

const mostDecisions = 100;

export const decisionList = z
  .object({
    decisions: z
      .array(
        decision.extend({
          task_id: z.string(),
          deferral_id: text(128).describe('Required to approve.').optional(),
          args_sha256: text(64).describe('Required to approve.').optional(),
        }),
      )
      .max(mostDecisions),
  })
  .meta({ id: 'DecisionList' });

const listedAnswer = z.object({
  task_id: z.string().nullable().describe('null for an entry without one.'),
  status: z.int().describe('The status that POST /tasks/{id}/decisions would return.'),
  body: z.union([decided, decisionConflict]).describe('The body that it would return.'),
});

export const decisionAnswers = z
  .object({ decisions: z.array(listedAnswer).describe('In the order of the request.') })
  .meta({ id: 'DecisionAnswers' });

/** The error for a body without a decision (docs/contract/decisions.md). */
export const noDecision = 'decision must be "approve" or "reject"';

/**
 * Reads the body of a decision (docs/contract/decisions.md); ignores unknown keys. Throws a 400 Problem.
 *
 * @param at epoch milliseconds at which the decision arrived
 */
export function readDecision(body: unknown, caller: Caller | null, at: number): DecisionAttempt {
  const verb = readVerb(body);
  const result = decisionDetails.safeParse(body);
  if (!result.success) {
    const issue = result.error.issues[0];
    throw new Problem('invalid_body', `${issue?.path.join('.')} ${issue?.message}`);
  }
  const { approver, approver_email, note, deferral_id, args_sha256, args, runs_sha256 } =
    result.data;
  const { remember: remembered } = result.data;
  return {
    verb,
    approver: approver ?? null,
    email: approver_email ?? null,
    note: note ?? '',
    caller,
    deferralId: deferral_id ?? null,
    argsSha256: args_sha256 ?? null,
    ...(args === undefined ? {} : { args: args as JsonObject }),
    ...(runs_sha256 === undefined ? {} : { runsSha256: runs_sha256 }),
    ...(remembered === undefined ? {} : { remember: readRemember(remembered) }),
    at,
  };
}

function readRemember({ scope, for: time, uses, when }: z.output<typeof remember>): GrantRequest {
  try {
    const duration = parseDuration(time);
    return { scope, duration, uses, ...(when === undefined ? {} : { when }) };
  } catch {
    throw new Problem('invalid_body', `remember ${rememberForm}`);
  }
}

/** Reads the body of several decisions; its entries are not checked yet. Throws a 400 Problem. */
export function readDecisions(body: unknown): unknown[] {
  const listed = fieldOf(body, 'decisions');
  if (Array.isArray(listed) && listed.length <= mostDecisions) return listed;
  throw new Problem(
    'invalid_body',
    `decisions must be a list of at most ${mostDecisions} decisions`,
  );
}

/**
 * Reads one of several decisions like the body of a single one. An approval must be pinned to the call that the approver
 * has seen. Throws a 400 Problem.
 *
 * @param at epoch milliseconds at which the decision arrived
 */
export function readListedDecision(
  item: unknown,
  caller: Caller | null,
  at: number,
): { taskId: string; attempt: DecisionAttempt } {
  const attempt = readDecision(item, caller, at);
  const taskId = taskIdIn(item);
  if (taskId === null) throw new Problem('invalid_body', 'task_id must be a string');
  refuseUnpinned(attempt);
  return { taskId, attempt };
}

/** Refuses an approval that does not name the call that the approver has seen. Throws a 400 Problem. */
export function refuseUnpinned({ verb, deferralId, argsSha256 }: DecisionAttempt): void {
  if (verb === 'approve' && (deferralId === null || argsSha256 === null)) {
    const error = 'an approval in a list needs deferral_id and args_sha256';
    throw new Problem('unpinned_approval', error);
  }
}

/** Returns the task of one of several decisions; `null` without one. */
export function taskIdIn(item: unknown): string | null {
  const taskId = fieldOf(item, 'task_id');
  return typeof taskId === 'string' ? taskId : null;
}

/** Formats a task's answer to a decision: the status and body of docs/contract/decisions.md. */
export function presentAnswer(
  taskId: string,
  answer: DecisionAnswer,
): { status: 200; body: z.input<typeof decided> } | Problem {
  switch (answer.kind) {
    case 'resolved':
    case 'recorded': {
      const { deferralId: deferral_id, decision, approver, kind: status, editedSha256 } = answer;
      const edited = editedSha256 === undefined ? {} : { edited_args_sha256: editedSha256 };
      const body = { task_id: taskId, deferral_id, decision, approver, status, ...edited };
      return { status: 200, body };
    }
    case 'forbidden':
      return new Problem('approver_not_authorized', 'approver not authorized');
    case 'noReason':
      return new Problem('reason_required', reasonNeeded(answer.decision));
    case 'noPasskey':
      return new Problem('passkey_required', passkeyNeeded);
    case 'notEditable':
      return new Problem('not_editable', notEditable);
    case 'unfit':
      return new Problem('arguments_refused', answer.text);
    case 'notRememberable':
      return new Problem('not_rememberable', answer.text);
    case 'decided': {
      const { decision, approver, decidedAt } = answer.settled;
      const more = { decision, approver, decided_at: timestamp(decidedAt) };
      return new Problem('already_decided', 'deferral already decided', more);
    }
    case 'otherDeferral': {
      const error = 'another deferral is pending for the task; review it before you decide';
      return new Problem('deferral_differs', error, { deferral_id: answer.pendingId });
    }
    case 'otherArguments': {
      const error = 'the pending call has other arguments; review them before you decide';
      return new Problem('arguments_differ', error, { args_sha256: answer.pendingSha256 });
    }
    case 'otherRuns': {
      const error = 'the pending call would run something else; review it before you decide';
      return new Problem('runs_differ', error, { runs_sha256: answer.pendingSha256 });
    }
    case 'notPending':
      return new Problem('deferral_not_found', 'no pending deferral for task');
  }
}

const notEditable =
  'only an approval under a rule with edit: true may change the arguments; leave args out';

const passkeyNeeded = 'this call needs a passkey; approve it on the approvals page';

function reasonNeeded(verb: DecisionAttempt['verb']): string {
  return `this call needs a reason to ${verb} it; send it as note`;
}

function readVerb(body: unknown): DecisionAttempt['verb'] {
  const named = fieldOf(body, 'decision');
  const verb = typeof named === 'string' ? named.trim().toLowerCase() : '';
  if (verb === 'approve' || verb === 'reject') return verb;
  throw new Problem('invalid_body', noDecision);
}
