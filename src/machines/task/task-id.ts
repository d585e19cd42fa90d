/** Returns true if a text can be a task ID (docs/contract/task.md). Earlier releases allowed any first character. */
export function isTaskId(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(text);
}
