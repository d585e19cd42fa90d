/** Why the task system refused a request; each code maps to one status of the transports. */
export type SystemErrorCode =
  | 'starting'
  | 'shutting_down'
  | 'unrecorded'
  | 'unchecked'
  | 'task_running'
  | 'unknown_task'
  | 'unknown_machine_version';

/** A refusal of the task system; the message names the remedy. */
export class SystemError extends Error {
  readonly code: SystemErrorCode;

  constructor(code: SystemErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Creates the refusal during shutdown. */
export function shuttingDown(): SystemError {
  return new SystemError('shutting_down', 'service is shutting down');
}

/** Creates the refusal for a change that cannot be recorded, with its remedy. */
export function unrecorded({ remedy }: { remedy: string }, cause?: unknown): SystemError {
  const message = `the service cannot record events at the moment, so it accepts no work; ${remedy}`;
  return new SystemError('unrecorded', message, { cause });
}

/** Creates the refusal of a decision whose approver may be in a group that cannot be read now. */
export function uncheckedMember(): SystemError {
  const message =
    'the members of a group of approvers could not be checked, so nothing was decided; try again';
  return new SystemError('unchecked', message);
}
