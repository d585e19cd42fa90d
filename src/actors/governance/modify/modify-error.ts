/** A rule of MODIFY could not be carried out, so the call must not go on; the message shows no value. */
export class ModifyError extends Error {
  readonly code = 'modify_failed';
}
