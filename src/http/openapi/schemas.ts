import { z } from 'zod';
import { mostChangesKept } from '../../machines/governance/kept-changes.ts';
import { taskStates } from '../../machines/task/task.ts';
import { decisionDetails } from '../wire/decision-json.ts';
import { submission } from '../wire/task-request.ts';

/** Request bodies by schema name. */
export const bodies = z.registry<{ id: string }>();

/** Response bodies by schema name. */
export const answers = z.registry<{ id: string }>();

const time = z.iso.datetime().describe('RFC 3339, UTC, with milliseconds.');
const digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 of the arguments as they would run.');

const part = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({ kind: z.literal('data'), data: z.unknown() }),
  z.object({
    kind: z.literal('file'),
    file: z.object({
      name: z.string().optional(),
      mimeType: z.string().optional(),
      uri: z.string().optional(),
      bytes: z.string().optional(),
    }),
  }),
]);

const message = z.object({
  kind: z.literal('message'),
  role: z.enum(['user', 'agent']),
  parts: z.array(part),
  messageId: z.string(),
  metadata: z.object({ role: z.literal('agent') }).optional(),
});

const stepUp = z.object({ tool: z.string(), required_acr: z.string(), reason: z.string() });

const pending = z.object({
  id: z.string(),
  tool: z.string(),
  to: z.string().describe('Approval target.'),
  context: z.string().describe('Context shown to approvers.'),
  requested_at: time,
  expires_at: time,
  approvers: z.array(z.string()).optional(),
  args_sha256: digest,
  runs_sha256: digest
    .optional()
    .describe('Of everything that decides what the call would do besides its arguments.'),
  repeats: z
    .object({ call_id: z.string(), at: time, approver: z.string().optional() })
    .optional()
    .describe('An equal call of the session that ran before.'),
  requests: z
    .int()
    .optional()
    .describe('How often the caller has requested the call; absent for once.'),
  escalated_to: z.string().optional(),
});

const changes = z
  .array(
    z.object({
      path: z.string(),
      before: z.string().optional(),
      after: z.string().optional(),
    }),
  )
  .describe(
    `What MODIFY changed of the arguments, each value as JSON without secrets; the first ${mostChangesKept}.`,
  );

const record = z.object({
  call_id: z.string().optional(),
  tool: z.string().optional(),
  layer: z.string(),
  decision: z.string(),
  reason: z.string(),
  duration_ms: z.number(),
  changes: changes.optional(),
});

const requester = z.object({
  user_id: z.string(),
  email: z.string().nullable(),
  provider: z.string(),
});

export const task = z.object({
  id: z.string(),
  contextId: z.string(),
  kind: z.literal('task'),
  status: z.object({ state: z.enum(taskStates), message: message.optional(), timestamp: time }),
  history: z.array(message).optional(),
  artifacts: z
    .array(z.object({ artifactId: z.string(), name: z.literal('response'), parts: z.array(part) }))
    .optional(),
  metadata: z
    .object({
      history_left_out: z.int().optional(),
      deferral: pending.optional(),
      ran: z
        .array(
          z.object({
            tool: z.string(),
            call_id: z.string(),
            args_sha256: digest,
            outcome: z.enum(['succeeded', 'failed', 'withheld', 'unknown']),
          }),
        )
        .optional()
        .describe('The calls that started, of a task that failed or was canceled.'),
      step_up: stepUp.optional(),
      decisions: z.array(record).optional(),
      created_at: time.optional(),
      requester: requester.nullable().optional(),
      workflow: z.record(z.string(), z.string()).optional(),
      statechart: z
        .object({ version: z.int(), value: z.string().describe('Where the task stands.') })
        .optional(),
      states: z
        .array(z.object({ state: z.string(), event: z.string(), entered_at: time }))
        .optional(),
      states_left_out: z.int().optional(),
    })
    .optional(),
});

export const tasks = z.object({ tasks: z.array(task), next_cursor: z.string().optional() });

export const deferral = pending.omit({ approvers: true }).extend({
  task_id: z.string(),
  timeout: z.string().describe('How long it waits at most, such as 5m0s.'),
  args: z.unknown().describe('The arguments that would run.'),
  escalates_at: time.describe('When another target is asked as well.').optional(),
  modified: z.string().describe('Which rules rewrote the arguments, in words.').optional(),
  changes: changes.optional(),
  requester: requester.nullable(),
  approvers: z.array(z.string()).nullable().describe('Emails of approvers; null for anyone.'),
  quorum: z.int(),
  approvals: z.array(z.object({ approver: z.string(), at: time })),
  args_redacted: z
    .literal(true)
    .optional()
    .describe('The redaction rules hide a part of the arguments from this caller.'),
  messages: z
    .array(z.object({ from: z.string().nullable(), text: z.string(), at: time.optional() }))
    .optional()
    .describe('Messages received while the call waits, oldest first.'),
});

export const deferrals = z.object({
  deferrals: z.array(deferral),
  total: z.int().describe('How many wait in all; counted up to 10,000.'),
  next_cursor: z.string().optional(),
});

const session = z.object({
  id: z.string().describe('The contextId of its tasks.'),
  preview: z.string().describe('The beginning of what was said first.'),
  created_at: time,
  updated_at: time,
});

export const sessions = z.object({
  sessions: z.array(session),
  next_cursor: z.string().optional(),
});

export const wholeSession = session.extend({ messages: z.array(message) });

const verb = z.enum(['approve', 'reject']);

export const decided = z.object({
  task_id: z.string(),
  deferral_id: z.string(),
  decision: verb,
  approver: z.string(),
  status: z
    .enum(['resolved', 'recorded'])
    .describe('recorded: one of several approvals that a quorum asks for.'),
});

export const conflict = z.object({
  error: z.string(),
  decision: verb.optional(),
  approver: z.string().optional(),
  decided_at: time.optional(),
  deferral_id: z.string().optional(),
  args_sha256: digest.optional(),
  runs_sha256: digest.optional(),
});

export const inspection = z.object({
  events: z.array(
    z.looseObject({
      type: z.enum(['@xstate.actor', '@xstate.event', '@xstate.snapshot']),
      id: z.string(),
      rootId: z.string(),
      sessionId: z.string(),
      createdAt: z.string().describe('Epoch milliseconds.'),
    }),
  ),
});

/** The error format of Holdpoint's own routes. */
export const refusal = z.object({
  error: z.string().describe('One sentence that says what is wrong.'),
});

export const unauthorized = z.object({
  error: z.string(),
  message: z.string().optional(),
  tool: z.string().optional(),
  required_acr: z.string().optional(),
  reason: z.string().optional(),
});

export const denied = z.object({
  error: z.literal('admission_denied'),
  reason: z.string(),
  scope: z.string(),
  window: z.string(),
  reset_at: z.string().nullable(),
});

export const health = z.object({ status: z.string() });

export const auditKeys = z.object({
  keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })),
});

export const sent = z.union([z.object({ task: submission }), submission]);

export const decision = decisionDetails.extend({
  decision: z.string().describe('approve or reject, in any case.'),
});

export const cancel = z.object({
  reason: z.string().nullable().optional().describe('Kept to 256 characters.'),
});

answers.add(task, { id: 'Task' });
answers.add(tasks, { id: 'TaskPage' });
answers.add(inspection, { id: 'Inspection' });
answers.add(deferral, { id: 'Deferral' });
answers.add(deferrals, { id: 'DeferralPage' });
answers.add(sessions, { id: 'SessionList' });
answers.add(wholeSession, { id: 'Session' });
answers.add(decided, { id: 'DecisionAnswer' });
answers.add(conflict, { id: 'DecisionConflict' });
answers.add(refusal, { id: 'Refusal' });
answers.add(unauthorized, { id: 'Unauthorized' });
answers.add(denied, { id: 'AdmissionDenied' });
answers.add(health, { id: 'Health' });
answers.add(auditKeys, { id: 'AuditKeys' });
bodies.add(sent, { id: 'Send' });
bodies.add(decision, { id: 'Decision' });
bodies.add(cancel, { id: 'Cancel' });
