import { lstat, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { readRegularFile, UnusableFileError } from '../../read-regular-file.ts';
import { scriptExtensions } from './find-script.ts';
import type { Position } from './skill-problem.ts';

/** Host and port of a literal URL in a script. */
export interface MentionedHost extends Position {
  /** Absolute path of the script. */
  path: string;
  url: URL;
}

/** Maximum size in bytes; longer files are data, not scripts. */
const largestScript = 1024 * 1024;

/** The next character must end host and port: a name built from variables is unknown before it runs. */
const url =
  /\bhttps?:\/\/(?:\[[\da-f:.]+\]|[a-z\d](?:[\w.-]*[a-z\d])?)(?::\d{1,5})?(?![\w.:@$%{<*-])/gi;

const comment = /^\s*(?:#|\/\/|\/?\*)/;

/** Finds the hosts of the URLs in all scripts of a folder, each once per file; skips comments. */
export async function mentionedHosts(scriptsDirectory: string): Promise<MentionedHost[]> {
  const names = (await readdir(scriptsDirectory)).filter((name) =>
    (scriptExtensions as readonly string[]).includes(extname(name).slice(1)),
  );
  const paths = names.toSorted().map((name) => join(scriptsDirectory, name));
  return (await Promise.all(paths.map(hostsIn))).flat();
}

async function hostsIn(path: string): Promise<MentionedHost[]> {
  const text = (await lstat(path)).isFile() ? textOf(path) : '';
  return hostsInText(text).map((found) => ({ path, ...found }));
}

/** Finds the distinct hosts of the URLs in a script's text; skips comments. */
export function hostsInText(text: string): Omit<MentionedHost, 'path'>[] {
  const found = new Map<string, Omit<MentionedHost, 'path'>>();
  for (const [index, line] of text.split('\n').entries()) {
    if (comment.test(line)) continue;
    for (const match of line.matchAll(url)) {
      const mentioned = URL.parse(match[0]);
      if (mentioned === null || found.has(mentioned.origin)) continue;
      found.set(mentioned.origin, { url: mentioned, line: index + 1, column: match.index + 1 });
    }
  }
  return [...found.values()];
}

function textOf(path: string): string {
  try {
    return readRegularFile(path, largestScript).toString('utf8');
  } catch (error) {
    if (error instanceof UnusableFileError) return '';
    throw error;
  }
}
