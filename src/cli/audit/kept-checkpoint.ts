import { readFile } from 'node:fs/promises';
import type { Standing } from '../../actors/records/records.ts';
import { isJsonObject, parseJson } from '../../machines/json.ts';
import { messageOf } from '../../machines/message-of.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';

const written = /^(\d{1,15}):([0-9a-f]{64})$/;

/**
 * Reads a saved checkpoint: `COUNT:HASH`, or a file whose last checkpoint line is used.
 *
 * @throws CliError with exit code 2 if it is neither
 */
export async function keptCheckpoint(text: string): Promise<Standing> {
  const [, count, head] = written.exec(text) ?? [];
  if (count !== undefined && head !== undefined) return { count: Number(count), head };
  const standings = (await linesOf(text)).map(standingIn);
  const last = standings.findLast((standing) => standing !== null);
  if (last === undefined || last === null) throw unusable(text, 'no line of it is a checkpoint');
  return last;
}

async function linesOf(path: string): Promise<string[]> {
  try {
    return (await readFile(path, 'utf8')).split('\n');
  } catch (error) {
    throw unusable(path, messageOf(error));
  }
}

function standingIn(line: string): Standing | null {
  const value = parseJson(line);
  if (!isJsonObject(value) || value['event'] !== 'checkpoint') return null;
  const { count, head } = isJsonObject(value['fields']) ? value['fields'] : {};
  return typeof count === 'number' && typeof head === 'string' ? { count, head } : null;
}

function unusable(text: string, reason: string): CliError {
  return new CliError(plainLine(`--checkpoint ${text} cannot be used: ${reason}`), {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: 'write it as COUNT:HASH, or name a file that holds a checkpoint line',
  });
}
