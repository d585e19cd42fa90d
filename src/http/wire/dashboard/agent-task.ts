import type { z } from 'zod';
import { callerWords } from '../../../machines/governance/caller-name.ts';
import { isTaskId } from '../../../machines/task/task-id.ts';
import { titleIn } from '../../../machines/task/task-title.ts';
import { decidedCall } from '../decided-call.ts';
import { deferralDetail } from '../deferral.ts';
import { grant } from '../grant.ts';
import { inspection } from '../inspection.ts';
import { limit } from '../limit.ts';
import type { message } from '../message.ts';
import { type Lenient, lenient, loose } from '../relaxed.ts';
import type { requester } from '../requester.ts';
import { outcome } from '../settlement.ts';
import { task } from '../task.ts';
import type { GrantJson } from './grant-json.ts';
import type { DecidedCallJson, DeferralJson } from './held-call-json.ts';
import type { LimitJson, OutcomeJson } from './limit-json.ts';
import type { DecisionJson, StatechartJson } from './task-detail-json.ts';
import type { TaskRowJson } from './task-row-json.ts';

// The ID becomes a part of paths.
const agentTask = lenient(task).refine(({ id }) => isTaskId(id));
const agentDeferral = lenient(deferralDetail);
const agentDecided = lenient(decidedCall).refine(({ task_id: task }) => isTaskId(task));
const agentGrant = lenient(grant).refine(({ id }) => isTaskId(id));
const agentLimit = lenient(limit);
const agentOutcome = lenient(outcome).refine(({ task_id: task }) => isTaskId(task));
const agentInspection = loose(inspection, ['events', 'type']);

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

function askerOf({ user_id: userId, email, provider }: z.output<typeof requester>): string | null {
  return callerWords({ provider, userId, ...(email === null ? {} : { email }) });
}

/** Formats a task as a row of a list. */
export function presentRow(task: AgentTask): TaskRowJson {
  const { id, contextId, status, metadata: extra = {} } = task;
  const { created_at: createdAt, requester, workflow: flow, deferral } = extra;
  return {
    id,
    context_id: contextId,
    state: status.state,
    text: wordsOf(status.message),
    title: titleIn(task.history ?? []),
    requester: requester ? askerOf(requester) : null,
    created_at: createdAt ?? status.timestamp,
    changed_at: status.timestamp,
    ...(deferral === undefined ? {} : { tool: deferral.tool }),
    ...(flow === undefined ? {} : { workflow: flow as NonNullable<TaskRowJson['workflow']> }),
  };
}

/** Returns a task's position in its chart. */
export function presentStatechart({ status, metadata: extra = {} }: AgentTask): StatechartJson {
  const { statechart: chart, states = [] } = extra;
  const { version, value } = chart ?? { version: 0, value: status.state };
  return { machine: 'task', version, value, states };
}

/** Returns the decisions of the governance layers. */
export function presentDecisionsOf({ metadata: extra = {} }: AgentTask): DecisionJson[] {
  return extra.decisions ?? [];
}

/** Reads an agent's deferral; `null` if it is invalid. */
export function readDeferral(json: unknown, agentId: string): DeferralJson | null {
  const found = agentDeferral.safeParse(json).data;
  return found === undefined ? null : { agent_id: agentId, ...found };
}

/** Reads an agent's page of decided calls; empty if it is invalid. */
export function readDecided(json: unknown, agentId: string): DecidedCallJson[] {
  const { deferrals } = Object(json) as { deferrals?: unknown };
  return readEach(agentDecided, deferrals).map((one) => ({ agent_id: agentId, ...one }));
}

/** Reads an agent's approvals that release later calls; empty if they are invalid. */
export function readGrants(json: unknown, agentId: string): GrantJson[] {
  const { grants } = Object(json) as { grants?: unknown };
  return readEach(agentGrant, grants).map((one) => ({ agent_id: agentId, ...one }));
}

/** Reads an agent's limits; empty if they are invalid. */
export function readLimits(json: unknown): LimitJson[] {
  const { limits } = Object(json) as { limits?: unknown };
  return readEach(agentLimit, limits);
}

/** Reads an agent's page of calls whose outcome nobody knew; empty if it is invalid. */
export function readOutcomes(json: unknown, agentId: string): OutcomeJson[] {
  const { outcomes } = Object(json) as { outcomes?: unknown };
  return readEach(agentOutcome, outcomes).map((one) => ({ agent_id: agentId, ...one }));
}

function readEach<Value>(schema: z.ZodType<Value>, list: unknown): Value[] {
  const found: unknown[] = Array.isArray(list) ? list : [];
  return found.flatMap((one) => schema.safeParse(one).data ?? []);
}

/** Reads a task's inspection events; `null` if they are invalid. */
export function readInspection(json: unknown): object[] | null {
  return agentInspection.safeParse(json).data?.events ?? null;
}

function wordsOf({ parts = [] }: Partial<Lenient<z.output<typeof message>>> = {}): string {
  const texts = parts.map((part) => ('text' in part ? part.text : undefined));
  return texts.filter((text) => text !== undefined).join('\n');
}
