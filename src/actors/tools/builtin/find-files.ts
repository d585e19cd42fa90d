import picomatch from 'picomatch';
import { findPlace, type ReadableFiles } from './agent-files.ts';
import type { Apart } from './run-apart.ts';
import { searchFailure } from './search-failure.ts';
import { walkFiles } from './walk-files.ts';

export interface FileQuery {
  files: ReadableFiles;
  /** A folder, as written by the model. */
  path: string;
  pattern: string;
  limit: number;
}

/** Lists the files of an agent whose paths match a pattern, one per line; runs in a worker. */
export async function findFiles({ files, path, pattern, limit }: FileQuery): Promise<Apart> {
  const place = await findPlace(files, path);
  if ('refusal' in place) return { problem: place.refusal };
  const matches = matcherOf(pattern);
  const found: string[] = [];
  try {
    for await (const { names } of walkFiles(files, place.names)) {
      if (!matches(names.join('/'))) continue;
      if (found.length === limit) return { text: `${lines(found)}\n[there are more; narrow it]` };
      found.push([...place.names, ...names].join('/'));
    }
  } catch (error) {
    return searchFailure(error);
  }
  return { text: found.length === 0 ? '[no file matches]' : lines(found) };
}

/** Creates a matcher for a glob pattern; names with a leading dot match only explicitly. */
export function matcherOf(pattern: string): (path: string) => boolean {
  return picomatch(pattern.replace(/^(?:\.?\/)+/, ''), { nonegate: true, noextglob: true });
}

function lines(paths: readonly string[]): string {
  return paths.join('\n');
}
