import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { normalName } from '../../tool-name.ts';
import { resolveInside } from './inside-directory.ts';

/** The script endings that make a tool, without their dot. */
export const scriptExtensions = ['sh', 'py', 'js', 'mjs', 'ts'] as const;

export type ScriptExtension = (typeof scriptExtensions)[number];

/** The script of a tool: its real path, or in words why it cannot be used, or `null` when there is none. */
export type FoundScript = { path: string } | { refused: string } | null;

/** Returns the normal name of the tool that a file would be the script of; `null` for what is no script. */
export function scriptNameOf(file: string): string | null {
  const extension = extname(file).slice(1);
  const isScript = (scriptExtensions as readonly string[]).includes(extension);
  return isScript ? normalName(basename(file, `.${extension}`)) : null;
}

/** Finds `<name>.{sh,py,js,mjs,ts}` in a folder of scripts; underscores and hyphens are taken as the same. */
export async function findScript(
  agentDirectory: string,
  scriptsDirectory: string,
  tool: string,
): Promise<FoundScript> {
  const wanted = normalName(tool);
  const files = (await fileNames(scriptsDirectory)).filter((file) => scriptNameOf(file) === wanted);
  const [file, second] = files;
  if (file === undefined) return null;
  if (second !== undefined) {
    return { refused: `has several scripts (${files.join(', ')}); keep one` };
  }
  const resolved = await resolveInside(agentDirectory, join(scriptsDirectory, file));
  if (resolved.kind === 'outside') {
    return { refused: `has a script ${file} that leads out of the agent's folder; move it inside` };
  }
  if (resolved.kind === 'missing' || !(await stat(resolved.path)).isFile()) {
    return { refused: `has a script ${file} that is not a file; replace it` };
  }
  return { path: resolved.path };
}

async function fileNames(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).toSorted();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
