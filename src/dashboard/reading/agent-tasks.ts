import { LineError, sentenceOf, type WorkspaceAgent } from '../../actors/workspace/workspace.ts';
import {
  type AgentTask,
  readAgentTask,
  readDeferral,
} from '../../http/wire/dashboard/agent-task.ts';
import type { DeferralJson } from '../../http/wire/dashboard/held-call-json.ts';

/** Maximum number of waiting calls read from one agent per request. */
export const deferralsAtOnce = 500;

/** An agent's waiting calls with the earliest deadlines, and their total number. */
export interface WaitingCalls {
  deferrals: DeferralJson[];
  total: number;
}

/** Timeout in milliseconds for an agent's list of waiting calls. */
const patience = 5_000;

/** Reads up to `most` waiting calls of an agent, earliest deadline first. Rejects with LineError. */
export async function deferralsOf(
  agent: WorkspaceAgent,
  most = deferralsAtOnce,
): Promise<WaitingCalls> {
  const line = agent.line();
  const found: unknown[] = [];
  let total = 0;
  let cursor: string | null = '';
  while (cursor !== null && found.length < most) {
    const next: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const path = `/deferrals?order=deadline&limit=${deferralsAtOnce}${next}`;
    const answer = await line.json({ method: 'GET', path, patience });
    if (answer.status !== 200) throw new LineError('senseless', sentenceOf(answer));
    const page = readPage(answer.body);
    found.push(...page.deferrals);
    total = page.total;
    cursor = page.next;
  }
  const deferrals = found
    .map((json) => readDeferral(json, agent.id))
    .filter((deferral) => deferral !== null);
  return { deferrals, total: Math.max(total, deferrals.length) };
}

/** Reads a page of waiting calls; agents of earlier releases send no total. */
function readPage(body: unknown): { deferrals: unknown[]; total: number; next: string | null } {
  const { deferrals, total, next_cursor: next } = Object(body) as Record<string, unknown>;
  return {
    deferrals: Array.isArray(deferrals) ? deferrals : [],
    total: typeof total === 'number' ? total : 0,
    next: typeof next === 'string' ? next : null,
  };
}

/** Returns the path of a task with all fields that the page shows. */
export function wholeTaskPath(id: string): string {
  return `/tasks/${id}?decisions=true&history=states`;
}

/** Reads one task of an agent; `null` if there is none with this ID. Rejects with LineError. */
export async function taskOf(agent: WorkspaceAgent, id: string): Promise<AgentTask | null> {
  const { status, body } = await agent.line().json({ method: 'GET', path: wholeTaskPath(id) });
  return status === 200 ? readAgentTask(body) : null;
}
