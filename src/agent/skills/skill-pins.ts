import { randomUUID } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { largestSettingsFile, readRegularFile } from '../../actors/read-regular-file.ts';
import { AddSkillError, type FileTree, readFolder } from '../../actors/workspace/workspace.ts';
import { writeNewFile } from '../../actors/write-new-file.ts';
import { codeOf } from '../../machines/error-code.ts';
import { digestOfTree } from './skill-source.ts';

const pinSchema = z.object({ source: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/) });
const pinsSchema = z.object({ skills: z.record(z.string(), pinSchema) });

/** Where a skill was copied from, and the SHA-256 of the copy. */
export type SkillPin = z.output<typeof pinSchema>;

/** The difference between a skill of the agent and a copy from its source, as paths. */
export interface SkillDifference {
  added: string[];
  changed: string[];
  removed: string[];
}

/** Next to the skills, so that it is committed with them and no tool can write it. */
const file = join('skills', '.sources.json');

/** Reads the pin of a skill; `null` for a skill without one. Throws AddSkillError for an unreadable list. */
export function readPin(directory: string, name: string): SkillPin | null {
  const { skills } = readPins(directory);
  return Object.hasOwn(skills, name) ? (skills[name] ?? null) : null;
}

/** Writes the pin of a skill atomically. */
export async function writePin(directory: string, name: string, pin: SkillPin): Promise<void> {
  const { skills } = readPins(directory);
  const all = { ...skills, [name]: pin };
  const sorted = Object.fromEntries(
    Object.entries(all).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
  const draft = join(directory, 'skills', `.sources.${randomUUID()}.tmp`);
  try {
    await writeNewFile(draft, `${JSON.stringify({ skills: sorted }, null, 2)}\n`);
    await rename(draft, join(directory, file));
  } finally {
    await rm(draft, { force: true });
  }
}

/**
 * Compares a pinned skill of an agent with a copy from its source; `null` if they are equal. Rejects with AddSkillError
 * if the skill was changed in the agent's folder, since that would be lost.
 */
export async function comparePinned(
  directory: string,
  name: string,
  { pin, files }: { pin: SkillPin; files: FileTree },
): Promise<SkillDifference | null> {
  const own = await readFolder(join(directory, 'skills', name));
  if (digestOfTree(own) !== pin.sha256) {
    throw new AddSkillError(
      'skill_exists',
      `the skill ${name} was changed in the folder of the agent; move it away to take the copy of the source`,
    );
  }
  if (digestOfTree(files) === pin.sha256) return null;
  const paths = [...new Set([...own.keys(), ...files.keys()])].toSorted();
  const of = (isOne: (before: Content, after: Content) => boolean) =>
    paths.filter((path) => isOne(own.get(path), files.get(path)));
  return {
    added: of((before) => before === undefined),
    changed: of(
      (before, after) => before !== undefined && after !== undefined && !isEqual(before, after),
    ),
    removed: of((_, after) => after === undefined),
  };
}

type Content = Buffer | null | undefined;

function isEqual(one: Buffer | null, other: Buffer | null): boolean {
  return one === null || other === null ? one === other : one.equals(other);
}

function readPins(directory: string): z.output<typeof pinsSchema> {
  try {
    const text = readRegularFile(join(directory, file), largestSettingsFile).toString('utf8');
    return pinsSchema.parse(JSON.parse(text));
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return { skills: {} };
    throw new AddSkillError('skill_unusable', `${file} cannot be read; restore or remove it`, {
      cause: error,
    });
  }
}
