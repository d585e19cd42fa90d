import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import {
  largestSettingsFile,
  readRegularFile,
  UnusableFileError,
} from '../../actors/read-regular-file.ts';
import { type SkillFinding, validateSkill } from '../../actors/tools/tools.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';

/**
 * `skills validate PATH`: checks a skill against the nine rules of docs/contract/dashboard.md. Rejects with CliError
 * and exit code 5 on errors.
 */
export async function skillsValidate({ output }: Session, path: string): Promise<void> {
  const file = skillFile(resolve(path));
  const folder = dirname(file);
  const scripts = scriptsIn(basename(file) === 'SKILL.md' ? join(folder, 'scripts') : null);
  const findings = validateSkill({
    ...{ skill_md: textOf(file), scripts, editing: null },
    existing: neighboursOf(file),
  });
  const lines = findings.map((finding) => plainLine(lineOf(file, finding)));
  const errors = findings.filter(({ level }) => level === 'error').length;
  if (errors > 0) {
    throw new CliError(`${errors === 1 ? '1 error' : `${errors} errors`} in the skill`, {
      code: 'skill_invalid',
      exitCode: exitCodes.invalid,
      hint: 'fix what is listed and try again',
      ...{
        lines,
        details: { valid: false, findings: findings.map((finding) => ({ ...finding })) },
      },
    });
  }
  output.json({ valid: true, findings });
  for (const line of lines) output.note(line);
  output.line(plainLine(`${file} is valid`));
}

function skillFile(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  const file = stat?.isDirectory() === true ? join(path, 'SKILL.md') : path;
  if (stat !== undefined && statSync(file, { throwIfNoEntry: false })?.isFile() === true)
    return file;
  throw new CliError(plainLine(`there is no skill at ${file}`), {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint: 'name the folder of a SKILL.md, or a file such as skills/refunds.md',
  });
}

function scriptsIn(folder: string | null): Record<string, string> {
  if (folder === null || statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    return {};
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(files.map(({ name }) => [name, textOf(join(folder, name))]));
}

/** Names of the other skills in the same `skills` folder. */
function neighboursOf(file: string): string[] {
  const own = basename(file) === 'SKILL.md' ? dirname(file) : file;
  const skills = dirname(own);
  if (basename(skills) !== 'skills') return [];
  return readdirSync(skills)
    .filter((name) => name !== basename(own) && !name.startsWith('.'))
    .map((name) => name.replace(/\.md$/, ''));
}

function textOf(path: string): string {
  try {
    return readRegularFile(path, largestSettingsFile).toString('utf8');
  } catch (error) {
    if (!(error instanceof UnusableFileError)) throw error;
    throw new CliError(plainLine(`${path} is no file of at most 256 KiB`), {
      code: 'skill_invalid',
      exitCode: exitCodes.invalid,
      hint: 'shorten or replace it',
      cause: error,
    });
  }
}

function lineOf(path: string, { level, message, file, line, column }: SkillFinding): string {
  const where = file === undefined ? path : join(dirname(path), 'scripts', file);
  return `${where}:${line ?? 1}:${column ?? 1}: ${level}: ${message}`;
}
