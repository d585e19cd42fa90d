/** Why the task system could not do what was asked; each code is one status of the transports. */
export type SystemErrorCode =
  | 'starting'
  | 'shutting_down'
  | 'unrecorded'
  | 'task_running'
  | 'unknown_task'
  | 'unknown_machine_version';

/** A refusal of the task system; the message tells a person what to do. */
export class SystemError extends Error {
  readonly code: SystemErrorCode;

  constructor(code: SystemErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Refuses what comes while the daemon lets go of its tasks. */
export function shuttingDown(): SystemError {
  return new SystemError('shutting_down', 'service is shutting down');
}

/** Refuses what cannot be recorded, and says what helps. */
export function unrecorded({ remedy }: { remedy: string }, cause?: unknown): SystemError {
  const message = `the service cannot record anything at the moment, so it takes no work; ${remedy}`;
  return new SystemError('unrecorded', message, { cause });
}
