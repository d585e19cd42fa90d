import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, readFile, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { codeOf } from '../../../machines/error-code.ts';
import { flushPath } from '../../flush-path.ts';
import { normalName } from '../../tool-name.ts';
import { writeNewFile } from '../../write-new-file.ts';
import { findScript } from './find-script.ts';
import { parseFrontmatter } from './frontmatter.ts';
import { resolveInside } from './inside-directory.ts';
import { toolSections } from './tool-sections.ts';

/** A tool to add to the main skill of an agent. */
export interface NewSection {
  name: string;
  /** The section, including its heading. */
  section: string;
  /** Text before the first section, for a new file. */
  opening: string;
  /** Name and text of the script file. */
  script: { file: string; text: string };
}

/** The written paths, and a function that removes the additions. */
export interface AddedSection {
  skill: string;
  isNewSkill: boolean;
  script: string;
  rollBack: () => Promise<void>;
}

/**
 * Writes the script of a tool and appends its section to the main skill, which is created if it is missing. Never
 * overwrites existing files. On a RangeError, which names the obstacle, nothing was written.
 */
export async function addSection(
  directory: string,
  mainPath: string,
  { name, section, opening, script }: NewSection,
): Promise<AddedSection> {
  const agentDirectory = await realpath(directory);
  const named = join(agentDirectory, mainPath);
  const place = await resolveInside(agentDirectory, named);
  const isNewSkill = place.kind === 'missing';
  if (relative(agentDirectory, named).startsWith('..') || place.kind === 'outside') {
    throw new RangeError(`${mainPath} leads out of the agent's folder; move it inside`);
  }
  const skill = place.kind === 'inside' ? place.path : named;
  const before = isNewSkill ? '' : await readFile(skill, 'utf8');
  refuseTwice(before, name, basename(mainPath));
  const folder = join(agentDirectory, 'scripts');
  await mkdir(folder).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  if ((await resolveInside(agentDirectory, folder)).kind !== 'inside') {
    throw new RangeError("scripts leads out of the agent's folder; move it inside");
  }
  const path = join(folder, script.file);
  const found = await findScript(agentDirectory, folder, name);
  if (found !== null) {
    const taken = 'path' in found ? relative(agentDirectory, found.path) : `a script of ${name}`;
    throw new RangeError(`${taken} is already there; rename the tool, or move that file away`);
  }
  const after = isNewSkill ? `${opening}\n${section}` : appended(before, section);
  await writeNewFile(path, script.text, 0o755);
  try {
    await chmod(path, 0o755);
    await flushPath(folder);
    if (isNewSkill) await writeNewFile(skill, after);
    else await put(skill, after);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  const rollBack = async () => {
    if ((await readFile(skill, 'utf8').catch(() => null)) === after) {
      if (isNewSkill) await rm(skill, { force: true });
      else await put(skill, before);
    }
    await rm(path, { force: true });
  };
  return { skill, isNewSkill, script: path, rollBack };
}

function refuseTwice(text: string, name: string, file: string): void {
  const { body, bodyLine } = parseFrontmatter(text);
  const twin = toolSections(body, bodyLine).find(
    (section) => normalName(section.name) === normalName(name),
  );
  if (twin === undefined) return;
  throw new RangeError(
    `${file} has a section ## Tool: ${twin.name} already, on line ${twin.line}; write its script, or take the section out`,
  );
}

/** Appends a section to a string; preserves Windows line ends. */
function appended(text: string, section: string): string {
  const isWindows = text.includes('\r\n');
  const end = isWindows ? '\r\n' : '\n';
  const lines = isWindows ? section.replaceAll('\n', end) : section;
  return `${text.replace(/\s*$/, '')}${end}${end}${lines}`;
}

/** Replaces a file atomically and preserves its permissions. */
async function put(path: string, text: string): Promise<void> {
  const mode = (await lstat(path).catch(() => null))?.mode ?? 0o644;
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    await writeNewFile(draft, text, mode & 0o777);
    await rename(draft, path);
    await flushPath(dirname(path));
  } finally {
    await rm(draft, { force: true });
  }
}
