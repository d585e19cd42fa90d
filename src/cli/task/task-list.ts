import { brief } from '../../machines/brief.ts';
import type { Session } from '../session.ts';
import { type AgentOptions, usualTimeout, withAgent } from './agent-session.ts';
import { paintState, statusText } from './print-task.ts';
import { readAnswer } from './read-answer.ts';

export interface ListOptions extends AgentOptions {
  state?: string;
  limit?: number;
  cursor?: string;
}

/** `task list`: a page of tasks, newest first. */
export async function taskList(session: Session, options: ListOptions): Promise<void> {
  const { output } = session;
  const query = new URLSearchParams();
  for (const name of ['state', 'limit', 'cursor'] as const) {
    const value = options[name];
    if (value !== undefined) query.set(name, String(value));
  }
  const path = query.size === 0 ? '/tasks' : `/tasks?${query.toString()}`;
  await withAgent(session, options, usualTimeout, async ({ agent, signal }) => {
    const page = readAnswer.taskPage(await agent.json({ method: 'GET', path, signal }));
    output.json(page);
    const width = Math.max(0, ...page.tasks.map(({ id }) => id.length));
    for (const task of page.tasks) {
      const { state, timestamp } = task.status;
      const id = task.id.padEnd(width);
      const text = brief(statusText(task), 80);
      output.line(`${id}  ${paintState(output, state)}  ${timestamp}  ${text}`.trimEnd());
    }
    if (page.tasks.length === 0) output.note('no tasks');
    if (page.next_cursor !== undefined) output.note(`more with --cursor ${page.next_cursor}`);
  });
}
