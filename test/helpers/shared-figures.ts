import type { AgentClient } from './agent-client.ts';

/** The figures of a daemon about its work among others. */
export async function sharedFiguresOf(
  agent: AgentClient,
): Promise<{ takeovers: number; keeper: number }> {
  const { body } = await agent.get('/metrics');
  const value = (name: string): number =>
    Number(new RegExp(`^holdpoint_store_${name} (.+)$`, 'm').exec(String(body))?.[1]);
  return { takeovers: value('takeovers_total'), keeper: value('keeper') };
}
