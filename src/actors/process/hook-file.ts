import { join } from 'node:path';
import { isJsonObject, parseJson } from '../../machines/json.ts';
import { readSmallFile } from '../read-small-file.ts';
import { writePrivately } from './write-privately.ts';

const nameOf = (stateFolder: string) => join(stateFolder, 'hook.json');

/** Records that the hook of a coding agent has asked this process. */
export function writeHookFile(stateFolder: string, dialect: string): void {
  writePrivately(nameOf(stateFolder), `${JSON.stringify({ pid: process.pid, dialect })}\n`);
}

/** Returns the coding agent whose hook asked a process first; `null` if none has. */
export function hookThatAsked(stateFolder: string, pid: number): string | null {
  const read = parseJson(readSmallFile(nameOf(stateFolder)) ?? '');
  if (!isJsonObject(read) || read['pid'] !== pid) return null;
  return typeof read['dialect'] === 'string' ? read['dialect'] : null;
}
