/** A MODIFY rule could not be applied, so the call must not proceed; the message contains no value. */
export class ModifyError extends Error {
  readonly code = 'modify_failed';
}
