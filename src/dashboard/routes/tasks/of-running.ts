import {
  type LineCall,
  LineError,
  sentenceOf,
  type Workspace,
  type WorkspaceAgent,
} from '../../../actors/workspace/workspace.ts';

/** Milliseconds to wait for each agent. */
const patience = 3_000;

/**
 * Reads a path of every running agent, and formats the answers with `read`. `unasked` names the agents that did not
 * answer in time. Never rejects.
 */
export async function ofRunning<Found>(
  workspace: Workspace,
  path: string,
  read: (body: unknown, agentId: string) => Found[],
  asked: Pick<LineCall, 'headers' | 'signal'>,
): Promise<{ found: Found[]; unasked: string[] }> {
  const running = workspace.agents().filter(({ state }) => state === 'running');
  const ask = async (agent: WorkspaceAgent): Promise<Found[]> => {
    const { status, body } = await agent.line().json({ method: 'GET', path, patience, ...asked });
    if (status !== 200) throw new LineError('senseless', sentenceOf({ status, body }));
    return read(body, agent.id);
  };
  const answers = await Promise.allSettled(running.map(ask));
  const unasked = running.filter((_, index) => answers[index]?.status === 'rejected');
  return {
    found: answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])),
    unasked: unasked.map(({ id }) => id),
  };
}
