import type { Session } from '../session.ts';
import { type AgentOptions, usualTimeout, withAgent } from './agent-session.ts';
import { readAnswer } from './read-answer.ts';

/** `task inspect ID`: prints a task's path through its chart as inspection events, one JSON document per line. */
export async function taskInspect(
  session: Session,
  id: string,
  options: AgentOptions,
): Promise<void> {
  const { stdout } = session.output;
  await withAgent(session, options, usualTimeout, async ({ agent, signal }) => {
    const path = `/tasks/${encodeURIComponent(id)}/inspection`;
    const { events } = readAnswer.inspection(await agent.json({ method: 'GET', path, signal }));
    for (const event of events) stdout.write(`${JSON.stringify(event)}\n`);
  });
}
