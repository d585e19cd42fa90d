import type { Workspace, WorkspaceStore } from './workspace.ts';

/**
 * Tells whether an agent may answer: it runs, or this page does not know it. One that is known not to run is not asked
 * what only a running one can say.
 */
export function mayRun({ agents }: Pick<Workspace, 'agents'>, agent: string): boolean {
  const known = agents?.find(({ id }) => id === agent);
  return known === undefined || known.status === 'running';
}

/** Resolves once an agent may answer, or the signal aborts. */
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
