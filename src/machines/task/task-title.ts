import { brief } from '../brief.ts';
import type { Task } from '../domain/task.ts';

/** Maximum length of a title in characters. */
const longestTitle = 120;

/** Returns the title of a task: the text of its first user message as one line of at most 120 characters. */
export function titleOf({ title, history }: Pick<Task, 'title' | 'history'>): string {
  return title ?? titleIn(history);
}

/** Returns the title of a task with these messages, in the form of the domain or of the wire. */
export function titleIn(history: readonly { role: string; parts: readonly object[] }[]): string {
  const parts = history.find(({ role }) => role === 'user')?.parts ?? [];
  const texts = parts.map((part) => ('text' in part ? part.text : undefined));
  return brief(texts.filter((text) => typeof text === 'string').join('\n'), longestTitle);
}
