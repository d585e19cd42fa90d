import { isFinal, type Message, type Owner, type Task } from '../domain/task.ts';
import { messageSize } from '../task/bound-history.ts';
import { asOwner, isSameCaller, ownerOf } from '../task/task-access.ts';

/** Limits of a session's history passed to a new task; bytes are counted on the messages as JSON. */
export const sessionBound = { bytes: 256 * 1024, messages: 100, tasks: 50 } as const;

/** Maximum length of a session's preview in characters. */
const longestPreview = 100;

/**
 * Collects the messages of a session's ended tasks for another task of the same caller: the newest ones within the
 * limits, oldest first. Excludes tasks of other owners, messages of other people, and messages denied to the model.
 *
 * @param tasks newest first
 */
export function sessionMessages(tasks: Iterable<Task>, caller: Owner | null): Message[] {
  const messages: Message[] = [];
  let bytes = 0;
  for (const task of tasks) {
    if (!isFinal(task.state) || !isOf(task, caller)) continue;
    for (const message of heardHistory(task).toReversed()) {
      bytes += messageSize(message);
      const isFull = messages.length === sessionBound.messages || bytes > sessionBound.bytes;
      if (isFull) return fromQuestion(messages.toReversed());
      messages.push(message);
    }
  }
  return fromQuestion(messages.toReversed());
}

/** Returns a task's messages without the message that was denied in its latest run. */
export function heardHistory({ history, failure }: Task): Message[] {
  const isDenied = failure?.kind === 'denied' && failure.layer === 'prompt';
  return isDenied ? history.slice(0, -1) : history;
}

/** Returns the start of the first user message. */
export function previewOf(messages: readonly Message[]): string {
  const parts = messages.flatMap(({ role, parts: said }) => (role === 'user' ? said : []));
  const text = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join(' ');
  const line = [...text.toWellFormed().replaceAll(/\s+/g, ' ').trim()];
  if (line.length <= longestPreview) return line.join('');
  return `${line.slice(0, longestPreview).join('')}...`;
}

function isOf(task: Task, caller: Owner | null): boolean {
  const { requester } = task;
  const asked = requester === null ? null : asOwner(requester);
  return isSameCaller(ownerOf(task), caller) && isSameCaller(asked, caller);
}

/** An answer is not included without the message that it answers. */
function fromQuestion(messages: Message[]): Message[] {
  const first = messages.findIndex(({ role }) => role === 'user');
  return first === -1 ? [] : messages.slice(first);
}
