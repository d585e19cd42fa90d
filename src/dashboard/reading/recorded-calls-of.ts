import {
  presentDecisionsOf,
  readAgentTask,
  readAgentTasks,
  readDeferral,
} from '../../http/wire/dashboard/agent-task.ts';
import { type RecordedCall, recordedCalls } from '../../http/wire/dashboard/recorded-calls.ts';
import { parseJson } from '../../machines/json.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import { wholeTaskPath } from './agent-tasks.ts';
import type { AuditReader } from './audit-reader.ts';

/** An agent whose calls are read, and its folder. */
export interface CallSource {
  directory: string;
  /** Reads a path of the agent's HTTP API. */
  read: (path: string, signal: AbortSignal) => Promise<{ status: number; body: unknown }>;
}

type Events = Parameters<typeof recordedCalls>[0]['events'];

/** Maximum number of tasks searched for calls. */
const mostTasks = 300;

/** Number of the log's last lines searched for arguments. */
const mostLines = 5_000;

/** Timeout in milliseconds for collecting an agent's calls. */
const patience = 10_000;

/** Reads the recorded calls of a task, oldest first; `null` if the agent has no such task. */
export async function callsOfTask(
  { read }: Pick<CallSource, 'read'>,
  id: string,
  events: Events,
  signal: AbortSignal,
): Promise<RecordedCall[] | null> {
  const { status, body } = await read(wholeTaskPath(id), signal);
  const task = status === 200 ? readAgentTask(body) : null;
  if (task === null) return null;
  const waits = task.metadata?.deferral?.id;
  const waiting = isTaskId(waits) ? await read(`/deferrals/${waits}`, signal) : null;
  const deferral = readDeferral(waiting?.body, '');
  const held = deferral === null ? null : { id: deferral.id, args: deferral.args };
  return recordedCalls({ task: id, decisions: presentDecisionsOf(task), held, events });
}

/** Reads an agent's last calls, newest first, and the reason if there are fewer than requested. */
export async function lastCalls(
  source: CallSource,
  audit: Pick<AuditReader, 'page'>,
  { most, signal }: { most: number; signal: AbortSignal },
): Promise<{ calls: RecordedCall[]; unread: string | null }> {
  const until = performance.now() + patience;
  const events = await eventsByTask(source, audit, signal);
  const calls: RecordedCall[] = [];
  let looked = 0;
  for (let next: string | null = ''; next !== null && looked < mostTasks; ) {
    const query = new URLSearchParams({ limit: '50', ...(next === '' ? {} : { cursor: next }) });
    const { body } = await source.read(`/tasks?${query.toString()}`, signal);
    const page = readAgentTasks(body);
    for (const { id } of page.tasks) {
      if (performance.now() > until) {
        return { calls, unread: `after ${patience / 1_000} seconds ${looked} tasks had been read` };
      }
      const found = await callsOfTask(source, id, events.get(id) ?? [], signal);
      calls.push(...(found ?? []).toReversed());
      looked += 1;
      if (calls.length >= most) return { calls: calls.slice(0, most), unread: null };
    }
    next = page.next;
  }
  const isAll = looked < mostTasks;
  return { calls, unread: isAll ? null : `the newest ${mostTasks} tasks had no more` };
}

async function eventsByTask(
  { directory }: CallSource,
  audit: Pick<AuditReader, 'page'>,
  signal: AbortSignal,
): Promise<Map<string, Events[number][]>> {
  const query = { limit: mostLines, before: null, wanted: null, isVerified: false };
  // The audit page reports an unreadable log.
  const page = await audit.page(directory, query, signal).catch(() => ({ events: [] }));
  const events = new Map<string, Events[number][]>();
  for (const { line } of page.events) {
    const {
      task_id: task,
      event,
      fields = {},
    } = Object(parseJson(line)) as Record<string, unknown>;
    if (typeof task !== 'string' || typeof event !== 'string') continue;
    const known = events.get(task) ?? [];
    events.set(task, known);
    known.push({ event, fields: Object(fields) as Record<string, unknown> });
  }
  return events;
}
