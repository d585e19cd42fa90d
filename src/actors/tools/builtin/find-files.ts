import picomatch from 'picomatch';
import { findPlace, type ReadableFiles } from './agent-files.ts';
import type { Apart } from './run-apart.ts';
import { searchFailure } from './search-failure.ts';
import { walkFiles } from './walk-files.ts';

/** What is looked for, and where. */
export interface FileQuery {
  files: ReadableFiles;
  /** A folder, as a model has written it. */
  path: string;
  pattern: string;
  limit: number;
}

/** Finds the files of an agent whose paths match a pattern, one a line; runs in a worker. */
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

/** Tells which paths match a glob pattern; names that begin with a dot do so only where it says so. */
export function matcherOf(pattern: string): (path: string) => boolean {
  return picomatch(pattern.replace(/^(?:\.?\/)+/, ''), { nonegate: true, noextglob: true });
}

function lines(paths: readonly string[]): string {
  return paths.join('\n');
}
