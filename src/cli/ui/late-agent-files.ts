import { tailServeLog } from '../../actors/workspace/workspace.ts';
import type { AgentFiles } from '../../http/dashboard/dashboard-ports.ts';

/** Reads the files of agents, with what that takes loaded when somebody first asks: the server listens sooner. */
export function lateAgentFiles(env: NodeJS.ProcessEnv): AgentFiles {
  let loading: Promise<AgentFiles> | null = null;
  const load = (): Promise<AgentFiles> => {
    loading ??= import('./agent-files.ts').then(({ agentFiles }) => agentFiles(env));
    return loading;
  };
  return {
    check: async (directory, content) => (await load()).check(directory, content),
    policy: async (directory) => (await load()).policy(directory),
    audit: async (directory, page) => (await load()).audit(directory, page),
    timeline: async (directory, task) => (await load()).timeline(directory, task),
    logs: tailServeLog,
  };
}
