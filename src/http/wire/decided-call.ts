import { z } from 'zod';
import type { Caller, CallOutcome, DecidedCall, Task } from '../../machines/domain/task.ts';
import { decidersOf } from '../../machines/task/decided-calls.ts';
import { callEdit, digest, presentEdit } from './deferral.ts';
import { time, timestamp } from './timestamp.ts';

/** The schema of a decision of the caller. */
export const decidedCall = z
  .object({
    id: z.string(),
    task_id: z.string(),
    tool: z.string(),
    args_sha256: digest,
    decision: z.enum(['approve', 'reject']),
    approver: z.string().describe('The approver whose decision was the last one needed.'),
    note: z.string(),
    decided_at: time,
    edit: callEdit.describe('Changes of the arguments by the approval.').exactOptional(),
    outcome: z
      .enum(['ran', 'failed', 'never_ran', 'unknown'])
      .describe(
        'Outcome of the approved call; absent until it is known, `unknown` for an aborted call.',
      )
      .exactOptional(),
    error: z.string().describe('The error of a call that failed, truncated.').exactOptional(),
  })
  .meta({ id: 'DecidedCall', description: 'A decision of the caller.' });

export const decidedPage = z
  .object({ deferrals: z.array(decidedCall), next_cursor: z.string().exactOptional() })
  .meta({ id: 'DecidedPage' });

/** Formats a task's deferrals that a caller decided, newest first; `null` for callers without authentication. */
export function presentDecided(
  { id: task_id, decided = [] }: Task,
  caller: Caller | null,
): z.input<typeof decidedCall>[] {
  const keys = new Set(decidersOf(caller));
  return decided
    .filter(({ by }) => by.some((one) => decidersOf(one).some((key) => keys.has(key))))
    .map(({ id, tool, argsSha256, decision, approver, note, decidedAt, edit, outcome }) => ({
      id,
      task_id,
      tool,
      args_sha256: argsSha256,
      decision,
      approver,
      note,
      decided_at: timestamp(decidedAt),
      ...(edit === undefined ? {} : { edit: presentEdit(edit) }),
      ...(outcome === undefined ? {} : presentOutcome(outcome)),
    }))
    .toReversed();
}

function presentOutcome(outcome: NonNullable<DecidedCall['outcome']>) {
  if (outcome.kind === 'failed') return { outcome: 'failed', error: outcome.error } as const;
  return { outcome: outcomeNames[outcome.kind] };
}

const outcomeNames = { ran: 'ran', neverRan: 'never_ran', unknown: 'unknown' } as const satisfies {
  [Kind in Exclude<CallOutcome['kind'], 'failed'>]: string;
};
