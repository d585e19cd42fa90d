/**
 * Tells whether a text can be the id of a task (docs/contract/task.md); earlier releases let it begin with any
 * character.
 */
export function isTaskId(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(text);
}
