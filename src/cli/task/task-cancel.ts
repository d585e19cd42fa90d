import { brief } from '../../machines/brief.ts';
import type { Session } from '../session.ts';
import { type AgentOptions, usualTimeout, withAgent } from './agent-session.ts';
import { statusText } from './print-task.ts';
import { readAnswer } from './read-answer.ts';

export interface CancelOptions extends AgentOptions {
  reason?: string;
}

/** `task cancel ID`: cancels a task; a task that has already ended is unchanged. */
export async function taskCancel(
  session: Session,
  id: string,
  { reason, ...options }: CancelOptions,
): Promise<void> {
  const { output } = session;
  await withAgent(session, options, usualTimeout, async ({ agent, signal }) => {
    const path = `/tasks/${encodeURIComponent(id)}/cancel`;
    const body = reason === undefined ? {} : { reason };
    const task = readAnswer.task(await agent.json({ method: 'POST', path, body, signal }));
    output.json(task);
    const { state } = task.status;
    const ended = state === 'canceled' ? brief(statusText(task), 300) : `it is ${state} already`;
    output.line(`task ${task.id}: ${ended}`);
  });
}
