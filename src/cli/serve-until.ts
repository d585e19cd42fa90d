import type { Agent } from '../agent/start-agent.ts';

/** What is done about an agent that serves. */
export interface Attendance {
  /** Has commands find the agent; returns what takes it off their list again. */
  list: () => () => void;
  announce: () => void;
  /** Tells the service manager of the agent; returns how to tell it of the end. */
  tellServiceManager: () => Promise<{ stopping: () => void; end: () => void }>;
  /** Resolves when the agent is to stop. */
  stopped: Promise<void>;
}

/** Serves until the agent is to stop, and stops it also when something around it fails. */
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
