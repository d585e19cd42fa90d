import { LineError, sentenceOf, type WorkspaceAgent } from '../../actors/workspace/workspace.ts';
import {
  type AgentTask,
  readAgentTask,
  readAgentTasks,
  readDeferral,
  titleOf,
} from '../wire/dashboard/agent-task.ts';
import type { DeferralJson } from '../wire/dashboard/held-call-json.ts';

/** Calls that are read of one agent. */
const mostDeferrals = 500;

/** Milliseconds that one agent may take to say what waits in it. */
const patience = 5_000;

/** Reads the calls that wait in an agent, each with the title of its task. Rejects with a LineError. */
export async function deferralsOf(agent: WorkspaceAgent): Promise<DeferralJson[]> {
  const line = agent.line();
  const page = `limit=${mostDeferrals}`;
  const [found, waiting] = await Promise.all([
    line.json({ method: 'GET', path: `/deferrals?${page}`, patience }),
    line.json({ method: 'GET', path: `/tasks?state=deferred&include=artifacts&${page}`, patience }),
  ]);
  if (found.status !== 200) throw new LineError('senseless', sentenceOf(found));
  const titles = new Map(
    readAgentTasks(waiting.body).tasks.map((task) => [task.id, titleOf(task)]),
  );
  const { deferrals } = Object(found.body) as { deferrals?: unknown };
  return (Array.isArray(deferrals) ? deferrals : []).flatMap((json: unknown) => {
    const title = titles.get(String((Object(json) as { task_id?: unknown }).task_id)) ?? '';
    const deferral = readDeferral(json, agent.id, title);
    return deferral === null ? [] : [deferral];
  });
}

/** Names a task of an agent with all that the page shows of it. */
export function wholeTaskPath(id: string): string {
  return `/tasks/${id}?decisions=true&history=states`;
}

/** Reads one task of an agent; `null` when it has none of this id. Rejects with a LineError. */
export async function taskOf(agent: WorkspaceAgent, id: string): Promise<AgentTask | null> {
  const { status, body } = await agent.line().json({ method: 'GET', path: wholeTaskPath(id) });
  return status === 200 ? readAgentTask(body) : null;
}
