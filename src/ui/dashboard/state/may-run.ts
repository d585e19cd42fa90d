import type { Workspace, WorkspaceStore } from './workspace.ts';

/**
 * Returns true if an agent may respond: it is running, or unknown to this page. Known stopped agents are not asked for
 * data that needs a running agent.
 */
export function mayRun({ agents }: Pick<Workspace, 'agents'>, agent: string): boolean {
  const known = agents?.find(({ id }) => id === agent);
  return known === undefined || known.status === 'running';
}

/** Resolves once an agent may respond, or the signal aborts. */
export async function untilMayRun(
  workspace: WorkspaceStore,
  agent: string,
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = (): void => {
    if (signal.aborted || mayRun(workspace.getSnapshot().context, agent)) resolve();
  };
  const heard = workspace.subscribe(look);
  signal.addEventListener('abort', look, { once: true });
  look();
  await promise;
  heard.unsubscribe();
}
