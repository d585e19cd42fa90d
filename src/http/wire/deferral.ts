import { z } from 'zod';
import { allOptions, type OptionsJson, optionsJson } from '../../machines/domain/rule-options.ts';
import type { CallEdit, Deferral, Task } from '../../machines/domain/task.ts';
import { formatDuration } from '../../machines/duration.ts';
import { nextEscalation } from '../../machines/governance/defer-policy.ts';
import { boundsJson, type Sees } from '../../machines/governance/limit-json.ts';
import type { JsonObject } from '../../machines/json.ts';
import { asOwner, isSameCaller, ownerOf } from '../../machines/task/task-access.ts';
import { titleOf } from '../../machines/task/task-title.ts';
import { argumentChanges } from './decision-record.ts';
import { boundFields } from './limit.ts';
import { presentRequester, requester } from './requester.ts';
import { time, timestamp } from './timestamp.ts';

/** The schema of a SHA-256. */
export const digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 of `{tool, args}` in RFC 8785 form, with the arguments as they would run.');

/** The schema of a change that an approver made to the arguments of a call. */
export const callEdit = z
  .object({
    deferral_id: z.string().describe('The call before the change.'),
    approver: z.string(),
    at: time,
    args_sha256: digest.describe('`args_sha256` of the call before the change.'),
    edited_args_sha256: digest.describe('`args_sha256` of the call after the change.'),
    changes: argumentChanges,
  })
  .meta({ id: 'CallEdit' });

type OptionFields = {
  [Key in keyof OptionsJson]-?: z.ZodExactOptional<ValueField<NonNullable<OptionsJson[Key]>>>;
};

type ValueField<Value> = z.ZodType<Value, Value>;

/** The options of the rule, as `ruleOptions` declares them. */
const optionFields = Object.fromEntries(
  allOptions.map(([, { key, values, about }]) => {
    const schema =
      values === 'flag'
        ? z.literal(true)
        : values === 'list'
          ? z.array(z.string())
          : z.enum(values as readonly string[]);
    return [key, schema.describe(about).exactOptional()];
  }),
) as unknown as OptionFields;

export const deferral = z
  .object({
    id: z.string(),
    deferral_id: z.string().describe('Same as `id`, under the name that decisions use.'),
    task_id: z.string(),
    title: z
      .string()
      .describe(
        'The first 120 characters of the first message of the task; empty without text, and in lists for a call that an earlier release stored.',
      ),
    tool: z.string(),
    to: z.string().describe('Approval target.'),
    timeout: z.string().describe('Maximum wait, such as 5m0s.'),
    context: z.string().describe('Context shown to approvers.'),
    args: z.record(z.string(), z.unknown()).describe('The arguments that would run.'),
    args_redacted: z
      .literal(true)
      .describe('The redaction rules hide a part of the arguments from this caller.')
      .exactOptional(),
    args_sha256: digest,
    runs_sha256: digest
      .describe('Digest of everything besides the arguments that determines what the call does.')
      .exactOptional(),
    repeats: z
      .object({ call_id: z.string(), at: time, approver: z.string().exactOptional() })
      .describe('An equal call that ran before.')
      .exactOptional(),
    ...boundFields,
    requests: z
      .int()
      .describe('How often the caller has requested the call; absent for once.')
      .exactOptional(),
    modified: z.string().describe('The rules that rewrote the arguments, as text.').exactOptional(),
    changes: argumentChanges.exactOptional(),
    requester: requester.nullable(),
    requested_at: time,
    expires_at: time,
    approvers: z
      .array(z.string())
      .nullable()
      .describe('Emails of approvers, and entries such as group:finance; null for anyone.'),
    also_by: z
      .array(z.array(z.string()))
      .describe('Further lists; the approver must be on each of them.')
      .exactOptional(),
    quorum: z.int().min(1),
    quorum_of: z
      .record(z.string(), z.int())
      .describe('Approvals needed by entry, such as group:legal; absent if any approver counts.')
      .exactOptional(),
    ...optionFields,
    remember: z
      .object({ for: z.string(), uses: z.int() })
      .describe(
        'Maximum time, such as 8h0m0s, and uses of an approval that counts for later calls.',
      )
      .exactOptional(),
    edits: z
      .array(callEdit)
      .describe('Changes of the arguments by approvers, oldest first.')
      .exactOptional(),
    hold: z
      .object({
        key: z.string(),
        agent: z.string().exactOptional(),
        session: z.string().exactOptional(),
        subject: z.string().exactOptional(),
        cwd: z.string().describe('The folder in which the call works.').exactOptional(),
      })
      .describe('Statements of the program that runs the call; absent for a call that runs here.')
      .exactOptional(),
    escalates_at: time.describe('Time of the escalation to another target.').exactOptional(),
    escalated_to: z.string().describe('The escalation target, once it was asked.').exactOptional(),
    approvals: z.array(
      z.object({
        approver: z.string(),
        at: time,
        for: z
          .string()
          .describe(
            'The person who delegated the decision; absent if the approver decided in their own right.',
          )
          .exactOptional(),
        as: z
          .array(z.string())
          .describe('The entries that the approver fulfilled, such as group:finance.')
          .exactOptional(),
      }),
    ),
    messages: z
      .array(z.object({ from: z.string().nullable(), text: z.string(), at: time.exactOptional() }))
      .describe('Messages received while the call waits, oldest first.')
      .exactOptional(),
  })
  .meta({ id: 'Deferral', description: 'A call that waits for a decision.' });

export const deferralDetail = deferral
  .extend({
    args_schema: z
      .record(z.string(), z.unknown())
      .describe('JSON Schema of the arguments, for callers who may change them.')
      .exactOptional(),
  })
  .meta({ id: 'DeferralDetail', description: 'A call that waits for a decision, in full.' });

export const deferralPage = z
  .object({
    deferrals: z.array(deferral),
    total: z.int().describe('Total number of waiting calls, counted up to 10,000.'),
    next_cursor: z.string().exactOptional(),
  })
  .meta({ id: 'DeferralPage' });

export const deferralEvent = z
  .union([deferral, z.object({ task_id: z.string(), deferral: z.null() })])
  .meta({ id: 'DeferralEvent', description: 'A call that waits, or a task whose call does not.' });

/** The fields of a deferral that its task shows. */
export const pendingDeferral = deferral
  .pick({
    id: true,
    tool: true,
    to: true,
    context: true,
    requested_at: true,
    expires_at: true,
    args_sha256: true,
    runs_sha256: true,
    repeats: true,
    limits: true,
    first: true,
    requests: true,
    escalated_to: true,
  })
  .extend({ approvers: z.array(z.string()).exactOptional() })
  .meta({ id: 'PendingDeferral', description: 'The call that a task waits with.' });

/**
 * Formats a task's pending deferral for approvers (docs/contract/transports.md); `null` if none is pending. The
 * arguments are redacted for display, unless all of them are requested.
 */
export function presentDeferral(
  task: Task,
  { isWhole = false, sees = asRequester(task) }: { isWhole?: boolean; sees?: Sees } = {},
): z.input<typeof deferral> | null {
  const { id, requester, deferral: held, stage, records } = task;
  if (held === null) return null;
  const { args, shown = args, messages = [] } = held;
  const isHidden = JSON.stringify(shown) !== JSON.stringify(args);
  const modified = records.filter(
    ({ callId, decision }) => callId === held.id && decision === 'modify',
  );
  return {
    id: held.id,
    deferral_id: held.id,
    task_id: id,
    title: titleOf(task),
    tool: held.tool,
    to: held.to,
    timeout: formatDuration(held.timeout),
    context: held.context,
    args: isWhole ? args : shown,
    ...(isHidden && !isWhole ? { args_redacted: true } : {}),
    args_sha256: held.argsSha256,
    ...presentBinding(held, sees),
    ...(modified.length === 0
      ? {}
      : {
          modified: modified.map(({ reason }) => reason).join(', '),
          changes: modified.flatMap(({ changes = [] }) => changes),
        }),
    requester: presentRequester(requester),
    requested_at: timestamp(held.requestedAt),
    expires_at: timestamp(held.expiresAt),
    ...presentStated(task),
    approvers: held.approvers,
    ...(held.alsoBy === undefined ? {} : { also_by: held.alsoBy.map((list) => [...list]) }),
    quorum: held.quorum,
    ...(held.quorumOf === undefined ? {} : { quorum_of: { ...held.quorumOf } }),
    ...optionsJson(held),
    ...presentMemory(held),
    ...(held.edits === undefined ? {} : { edits: held.edits.map(presentEdit) }),
    ...presentNextEscalation(held, stage),
    ...presentEscalation(task),
    approvals: held.approvals.map(({ approver, at, for: delegator, as }) => ({
      approver,
      at: timestamp(at),
      ...(delegator === undefined ? {} : { for: delegator }),
      ...(as === undefined ? {} : { as: [...as] }),
    })),
    ...(messages.length === 0
      ? {}
      : {
          messages: messages.map(({ from, text, at }) => ({
            from,
            text,
            ...(at === undefined ? {} : { at: timestamp(at) }),
          })),
        }),
  };
}

function presentMemory({ remember, edits }: Deferral) {
  if (remember === undefined || edits !== undefined) return {};
  return { remember: { for: formatDuration(remember.time), uses: remember.uses } };
}

/**
 * Formats a task's pending deferral for a caller who may decide: with the original arguments, and their `schema` if the
 * caller may change them. `null` if none is pending.
 */
export function presentWhole(
  task: Task,
  schema: JsonObject | null,
  sees?: Sees,
): z.input<typeof deferralDetail> | null {
  const shown = presentDeferral(task, { isWhole: true, ...(sees && { sees }) });
  return shown?.edit === true && schema !== null ? { ...shown, args_schema: schema } : shown;
}

/** Formats a change that an approver made to the arguments of a call. */
export function presentEdit({
  deferralId,
  approver,
  at,
  before,
  after,
  changes,
}: CallEdit): z.input<typeof callEdit> {
  return {
    deferral_id: deferralId,
    approver,
    at: timestamp(at),
    args_sha256: before.argsSha256,
    edited_args_sha256: after.argsSha256,
    changes,
  };
}

/** Formats the start or a change of a wait, or its end, for a task. */
export function presentWait(
  taskId: string,
  task: Task | null,
  sees?: Sees,
): z.input<typeof deferralEvent> {
  const shown = task === null ? null : presentDeferral(task, sees && { sees });
  return shown ?? { task_id: taskId, deferral: null };
}

/** Formats a task's pending deferral for its task, as its requester may see it; `null` if none is pending. */
export function presentPending(task: Task): z.input<typeof pendingDeferral> | null {
  const { deferral: held } = task;
  if (held === null) return null;
  return {
    id: held.id,
    tool: held.tool,
    to: held.to,
    context: held.context,
    requested_at: timestamp(held.requestedAt),
    expires_at: timestamp(held.expiresAt),
    ...(held.approvers === null ? {} : { approvers: held.approvers }),
    args_sha256: held.argsSha256,
    ...presentBinding(held, asRequester(task)),
    ...presentEscalation(task),
  };
}

/** The requester of a task may know who requested an earlier call only if it was the same person. */
function asRequester(task: Task): Sees {
  return (earlier) => isSameCaller(ownerOf(task), earlier && asOwner(earlier));
}

/** Formats the data that a deferral is bound to in addition to its arguments, and what the call was compared with. */
function presentBinding(held: Deferral, sees: Sees) {
  const { runsSha256, repeats, requests } = held;
  // An equal call of the same session has the same requester.
  const approver =
    repeats?.requester === undefined || sees(repeats.requester) ? repeats?.approver : undefined;
  return {
    ...(runsSha256 === undefined ? {} : { runs_sha256: runsSha256 }),
    ...(repeats === undefined
      ? {}
      : {
          repeats: {
            call_id: repeats.callId,
            at: timestamp(repeats.at),
            ...(approver === undefined ? {} : { approver }),
          },
        }),
    ...boundsJson(held, sees),
    ...(requests === undefined ? {} : { requests }),
  };
}

function presentStated({ hold }: Task): Pick<z.input<typeof deferral>, 'hold'> {
  if (hold === undefined) return {};
  const { key, agent, session, subject, cwd } = hold;
  return {
    hold: {
      key,
      ...(agent === undefined ? {} : { agent }),
      ...(session === undefined ? {} : { session }),
      ...(subject === undefined ? {} : { subject }),
      ...(cwd === undefined ? {} : { cwd }),
    },
  };
}

function presentNextEscalation(held: Deferral, stage: Task['stage']): { escalates_at?: string } {
  const next = nextEscalation(held);
  const further = next === null ? null : held.requestedAt + next.after;
  const at = stage === 'escalated' ? further : held.escalateAt;
  return at === null ? {} : { escalates_at: timestamp(at) };
}

function presentEscalation({ stage, deferral }: Task): { escalated_to?: string } {
  const target = deferral?.escalateTo ?? null;
  return stage === 'escalated' && target !== null ? { escalated_to: target } : {};
}
