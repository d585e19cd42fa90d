import { z } from 'zod';
import { parseJson } from '../../machines/json.ts';
import { ownNote } from './own-note.ts';

const words = z.array(z.string());

/** Records the start arguments of a folder's agent, for its next start from the dashboard. */
export function noteStartFlags(
  directory: string,
  flags: readonly string[],
  env: NodeJS.ProcessEnv,
): void {
  ownNote('starts', directory, env).write(flags.length === 0 ? null : JSON.stringify(flags));
}

/** Returns the arguments with which this user last started a folder's agent; empty for none. */
export function lastStartFlags(directory: string, env: NodeJS.ProcessEnv): string[] {
  const text = ownNote('starts', directory, env).read();
  if (text === null) return [];
  return words.safeParse(parseJson(text)).data ?? [];
}
