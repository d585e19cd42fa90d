import { SystemError } from '../system-error.ts';

/** A task that runs cannot start again. */
export function stillRunning(id: string): SystemError {
  return new SystemError(
    'task_running',
    `task ${id} is still running; wait for it to end, cancel it, or leave the id out`,
  );
}

/** A hold is one call. */
export function runsOnce(id: string): SystemError {
  return new SystemError(
    'task_running',
    `task ${id} is the hold of one call, which a new run would replace; leave the id out`,
  );
}

/** A task that waits is continued by a message, and not by a new run. */
export function stillWaiting(id: string, tool: string): SystemError {
  return new SystemError(
    'task_running',
    `task ${id} waits for approval of ${tool}; name it as the taskId of an A2A message to have that shown to the approvers, or cancel it to call it off`,
  );
}
