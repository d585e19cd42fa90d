import { setTimeout as pause } from 'node:timers/promises';
import { CliError } from '../cli-error.ts';
import type { AgentSession } from '../task/agent-session.ts';
import { readAnswer, type TaskJson } from '../task/read-answer.ts';

/** Maximum number of polls for a task that was just sent. */
const attempts = 200;

/** Milliseconds between two polls. */
const pauseBetween = 10;

/** Polls a task until one of its calls is held, and returns the task. */
export async function untilDeferred(
  { agent, signal }: AgentSession,
  id: string,
): Promise<TaskJson> {
  const path = `/tasks/${encodeURIComponent(id)}`;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const events = agent.events({ method: 'GET', path: `${path}/events`, taskId: id, signal });
      for await (const { event, data } of events) {
        if (event !== 'status' && event !== 'result') continue;
        const task = readAnswer.task(JSON.parse(data));
        if (task.status.state !== 'deferred') continue;
        return readAnswer.task(await agent.json({ method: 'GET', path, signal }));
      }
      throw new CliError(`task ${id} ended without waiting for a person`, { code: 'not_held' });
    } catch (error) {
      // The message and this poll use separate connections, so the poll may arrive first.
      const isEarly = error instanceof CliError && error.code === 'not_found';
      if (!isEarly || attempt === attempts) throw error;
    }
    await pause(pauseBetween, undefined, { signal });
  }
}
