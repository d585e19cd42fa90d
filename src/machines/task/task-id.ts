const letter = '[A-Za-z0-9._:-]';

/** The form of an ID that a caller chooses: of a task, a request or a conversation. */
export const idForm = new RegExp(`^${letter}{1,128}$`);

/**
 * The form of a new task's ID. Excludes paths and command-line options: `..` would be resolved in a URL, and `-h` would
 * be read as an option.
 */
export const newTaskIdForm = new RegExp(`^[A-Za-z0-9]${letter}{0,127}$`);

/** Returns true if a string can be a task ID (docs/contract/task.md). Earlier releases allowed any first character. */
export function isTaskId(text: unknown): text is string {
  return typeof text === 'string' && idForm.test(text);
}
