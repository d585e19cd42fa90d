import { RE2JS, RE2JSSyntaxException } from 're2js';
import { findPlace, type ReadableFiles } from './agent-files.ts';
import { decoded, readBytes } from './file-text.ts';
import { matcherOf } from './find-files.ts';
import type { Apart } from './run-apart.ts';
import { searchFailure } from './search-failure.ts';
import { type FoundFile, walkFiles } from './walk-files.ts';

export interface TextQuery {
  files: ReadableFiles;
  /** A folder, as written by the model. */
  path: string;
  pattern: string;
  /** Glob of the files to search; empty for all. */
  glob: string;
  ignoreCase: boolean;
  limit: number;
}

/** Maximum bytes of one file and of all files, and maximum characters shown of a line. */
const most = { file: 4 * 1024 * 1024, all: 64 * 1024 * 1024, line: 300 };

/** Finds the lines of an agent's files that match an RE2 pattern, as `path:number: line`; runs in a worker. */
export async function searchFiles(query: TextQuery): Promise<Apart> {
  const { files, path, pattern, glob, ignoreCase, limit } = query;
  const place = await findPlace(files, path);
  if ('refusal' in place) return { problem: place.refusal };
  const expression = compiled(pattern, ignoreCase);
  if (typeof expression === 'string') return { problem: expression };
  const isWanted = glob === '' ? () => true : matcherOf(glob);
  const found: string[] = [];
  let left = most.all;
  try {
    for await (const file of walkFiles(files, place.names)) {
      if (!isWanted(file.names.join('/'))) continue;
      const text = await textOf(file);
      left -= text.length;
      if (left < 0)
        return { problem: 'there is too much text to search; name fewer files in glob' };
      const shown = [...place.names, ...file.names].join('/');
      for (const line of matchesIn(text, expression)) {
        if (found.length === limit) {
          return { text: `${found.join('\n')}\n[there are more; narrow it]` };
        }
        found.push(`${shown}:${line}`);
      }
    }
  } catch (error) {
    return searchFailure(error);
  }
  return { text: found.length === 0 ? '[no line matches]' : found.join('\n') };
}

function compiled(pattern: string, ignoreCase: boolean): RE2JS | string {
  try {
    return RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return 'argument pattern is no RE2 pattern; there are no look-arounds and back-references in RE2';
  }
}

/** Skips files that are too large, not text, or deleted meanwhile. */
async function textOf({ folder, names }: FoundFile): Promise<string> {
  const read = await readBytes(folder, names.at(-1) ?? '', most.file).catch(() => null);
  return decoded(read?.content ?? Buffer.alloc(0)) ?? '';
}

function* matchesIn(text: string, expression: RE2JS): Generator<string> {
  if (text === '') return;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (!expression.matcher(line).find()) continue;
    const shown = line.length > most.line ? `${line.slice(0, most.line).toWellFormed()}…` : line;
    yield `${index + 1}: ${shown}`;
  }
}
