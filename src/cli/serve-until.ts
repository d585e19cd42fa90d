import type { Agent } from '../agent/start/start-agent.ts';

/** The callbacks around a serving agent. */
export interface Attendance {
  /** Adds the agent to the list of running agents; returns a function that removes it. */
  list: () => () => void;
  announce: () => void;
  /** Notifies the service manager that the agent is ready; returns functions that report the stop. */
  tellServiceManager: () => Promise<{ stopping: () => void; end: () => void }>;
  stopped: Promise<void>;
}

/** Serves until the agent must stop. Also stops the agent if one of the callbacks fails. */
export async function serveUntil(
  agent: Pick<Agent, 'stop'>,
  { list, announce, tellServiceManager, stopped }: Attendance,
): Promise<void> {
  let unlist: (() => void) | null = null;
  let service: Awaited<ReturnType<Attendance['tellServiceManager']>> | null = null;
  try {
    unlist = list();
    announce();
    service = await tellServiceManager();
    await stopped;
  } finally {
    try {
      unlist?.();
      service?.stopping();
    } finally {
      await agent.stop().finally(() => service?.end());
    }
  }
}
