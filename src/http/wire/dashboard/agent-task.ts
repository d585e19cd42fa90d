import { z } from 'zod';
import { brief } from '../../../machines/brief.ts';
import { callerWords } from '../../../machines/governance/caller-name.ts';
import { isTaskId } from '../../../machines/task/task-id.ts';
import type { DeferralJson } from './held-call-json.ts';
import type { DecisionJson, StatechartJson } from './task-detail-json.ts';
import type { TaskRowJson } from './task-row-json.ts';

/** Maximum characters of a request shown in a list. */
const titleLength = 120;

const text = z.string().catch('');
const time = z.string().catch(() => new Date(0).toISOString());
const parts = z.array(z.looseObject({ kind: text, text: text.optional() })).catch([]);
const message = z.looseObject({ role: text, parts });
const origin = z.looseObject({
  user_id: text,
  email: z.string().nullable().catch(null),
  provider: text,
});
const visit = z.object({ state: text, event: text, entered_at: time });

const changes = z.array(
  z.object({ path: text, before: z.string().optional(), after: z.string().optional() }),
);

const decision = z.object({
  call_id: z.string().optional(),
  tool: z.string().optional(),
  layer: text,
  decision: text,
  reason: text,
  duration_ms: z.number().catch(0),
  changes: changes.optional().catch(undefined),
});

const workflow = z.object({
  workflow_id: z.string().optional(),
  workflow_execution_id: z.string().optional(),
  stage_id: z.string().optional(),
  step_id: z.string().optional(),
});

const metadata = z.looseObject({
  created_at: z.string().optional().catch(undefined),
  requester: origin.nullable().optional().catch(undefined),
  workflow: workflow.optional().catch(undefined),
  deferral: z.looseObject({ id: text, tool: text }).optional().catch(undefined),
  decisions: z.array(decision).catch([]).optional(),
  statechart: z.object({ version: z.number(), value: z.string() }).optional().catch(undefined),
  states: z.array(visit).catch([]).optional(),
});

const agentTask = z.looseObject({
  // The ID becomes a part of paths.
  id: z.string().refine(isTaskId),
  contextId: text,
  status: z.looseObject({
    state: text,
    timestamp: time,
    message: message.optional().catch(undefined),
  }),
  history: z.array(message).catch([]).optional(),
  metadata: metadata.optional().catch(undefined),
});

/** A task as reported by an agent, reduced to validated fields. The agent is not trusted. */
export type AgentTask = z.infer<typeof agentTask>;

/** Reads the JSON of a task; `null` if it is invalid. */
export function readAgentTask(json: unknown): AgentTask | null {
  return agentTask.safeParse(json).data ?? null;
}

/** Reads a page of tasks; empty if it is invalid. */
export function readAgentTasks(json: unknown): { tasks: AgentTask[]; next: string | null } {
  const { tasks, next_cursor: next } = Object(json) as { tasks?: unknown; next_cursor?: unknown };
  const found = Array.isArray(tasks) ? tasks.map(readAgentTask) : [];
  return {
    tasks: found.filter((task) => task !== null),
    next: typeof next === 'string' ? next : null,
  };
}

function askerOf({ user_id: userId, email, provider }: z.output<typeof origin>): string | null {
  return callerWords({ provider, userId, ...(email === null ? {} : { email }) });
}

/** Formats a task as a row of a list. */
export function presentRow(task: AgentTask): TaskRowJson {
  const { id, contextId, status, metadata: extra = {} } = task;
  const { created_at: createdAt, requester, workflow: flow, deferral } = extra;
  return {
    ...{ id, context_id: contextId, state: status.state },
    text: wordsOf(status.message),
    title: titleOf(task),
    requester: requester ? askerOf(requester) : null,
    created_at: createdAt ?? status.timestamp,
    changed_at: status.timestamp,
    ...(deferral === undefined ? {} : { tool: deferral.tool }),
    ...(flow === undefined ? {} : { workflow: flow as NonNullable<TaskRowJson['workflow']> }),
  };
}

/** Returns the requester's message as one line. */
export function titleOf({ history = [] }: AgentTask): string {
  return brief(wordsOf(history.find(({ role }) => role === 'user')), titleLength);
}

/** Returns a task's position in its chart. */
export function presentStatechart({ status, metadata: extra = {} }: AgentTask): StatechartJson {
  const { statechart: chart, states = [] } = extra;
  const { version, value } = chart ?? { version: 0, value: status.state };
  return { machine: 'task', version, value, states };
}

/** Returns the decisions of the governance layers. */
export function presentDecisionsOf({ metadata: extra = {} }: AgentTask): DecisionJson[] {
  return (extra.decisions ?? []) as DecisionJson[];
}

const target = z.union([z.string(), z.array(z.string())]);

const agentDeferral = z.object({
  id: z.string(),
  task_id: z.string(),
  tool: text,
  to: target.catch(''),
  timeout: text,
  context: text,
  args: z.record(z.string(), z.unknown()).catch({}),
  modified: z.string().optional().catch(undefined),
  changes: changes.optional().catch(undefined),
  args_sha256: text,
  args_redacted: z.boolean().optional().catch(undefined),
  messages: z
    .array(z.object({ from: z.string().nullable().catch(null), text, at: z.string().optional() }))
    .optional()
    .catch(undefined),
  repeats: z
    .object({ call_id: text, at: time, approver: z.string().optional() })
    .optional()
    .catch(undefined),
  requests: z.number().optional().catch(undefined),
  requester: origin.nullable().catch(null),
  requested_at: time,
  expires_at: time,
  approvers: z.array(z.string()).nullable().catch(null),
  quorum: z.number().catch(1),
  approvals: z.array(z.object({ approver: text, at: time })).catch([]),
  escalates_at: time.optional().catch(undefined),
  escalated_to: target.optional().catch(undefined),
});

/** Reads an agent's deferral; `null` if it is invalid. */
export function readDeferral(json: unknown, agentId: string, title: string): DeferralJson | null {
  const found = agentDeferral.safeParse(json).data;
  return found === undefined ? null : ({ agent_id: agentId, ...found, title } as DeferralJson);
}

const inspection = z.object({ events: z.array(z.looseObject({ type: z.string() })) });

/** Reads a task's inspection events; `null` if they are invalid. */
export function readInspection(json: unknown): object[] | null {
  return inspection.safeParse(json).data?.events ?? null;
}

function wordsOf(said: z.infer<typeof message> | undefined): string {
  return (said?.parts ?? [])
    .flatMap(({ text: words }) => (words === undefined ? [] : [words]))
    .join('\n');
}
