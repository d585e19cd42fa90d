import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { normalName } from '../../tool-name.ts';
import { resolveInside } from './inside-directory.ts';

/** Script extensions of tools, without the dot. */
export const scriptExtensions = ['sh', 'py', 'js', 'mjs', 'ts'] as const;

export type ScriptExtension = (typeof scriptExtensions)[number];

/** The script of a tool: its real path, the reason why it cannot be used, or `null` if there is none. */
export type FoundScript = { path: string } | { refused: string } | null;

/** Returns the normalised tool name of a script file; `null` for a file that is not a script. */
export function scriptNameOf(file: string): string | null {
  const extension = extname(file).slice(1);
  const isScript = (scriptExtensions as readonly string[]).includes(extension);
  return isScript ? normalName(basename(file, `.${extension}`)) : null;
}

/** Finds `<name>.{sh,py,js,mjs,ts}` in a folder of scripts; underscores and hyphens are equivalent. */
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
