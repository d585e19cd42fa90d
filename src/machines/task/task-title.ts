import { brief } from '../brief.ts';
import type { Deferral, Task } from '../domain/task.ts';

/** Maximum length of a title in characters. */
const longestTitle = 120;

/**
 * Returns the title of a task as one line of at most 120 characters: the text of its first user message, or the arguments
 * of a held call that another program runs.
 */
export function titleOf({
  title,
  history,
  hold,
  deferral = null,
}: Pick<Task, 'title' | 'history'> & Partial<Pick<Task, 'hold' | 'deferral'>>): string {
  if (title !== undefined) return title;
  return hold === undefined || deferral === null ? titleIn(history) : titleOfCall(deferral);
}

function titleOfCall({ args, shown = args }: Deferral): string {
  const texts = Object.entries(shown).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return brief(texts.join(', '), longestTitle);
}

/** Returns the title of a task with these messages, in the form of the domain or of the wire. */
export function titleIn(history: readonly { role: string; parts: readonly object[] }[]): string {
  const parts = history.find(({ role }) => role === 'user')?.parts ?? [];
  const texts = parts.map((part) => ('text' in part ? part.text : undefined));
  return brief(texts.filter((text) => typeof text === 'string').join('\n'), longestTitle);
}
