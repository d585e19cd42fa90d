import { mkdir, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ConfigProblem, ConfigReading } from '../actors/config/config.ts';
import { type Skill, serverCode, writableFolder } from '../actors/tools/tools.ts';
import { statePaths } from './state-paths.ts';

/** What `egress.writable` comes to. */
export interface WritableReading {
  /** Absolute, links resolved; not all of them need be there. */
  folders: string[];
  problems: ConfigProblem[];
  warnings: ConfigProblem[];
}

/**
 * Reads which folders of an agent its scripts may write and keep, and makes none of them: nothing that configures the
 * agent, holds its state or is code may be written by a script (docs/contract/egress.md).
 */
export async function readWritable(
  directory: string,
  { config, problemAt }: Loaded,
  skills: readonly Skill[],
): Promise<WritableReading> {
  const agentDirectory = await realpath(directory);
  const guarded = [
    ...['service.yaml', 'skills', 'scripts', 'node_modules', config.skills.path],
    ...statePaths(config),
    // Whoever may write what the model is told could tell it anything.
    ...(typeof config.instructions === 'string' ? [] : [config.instructions.file]),
    ...config.channels.map((channel) => `${channel}-config.yaml`),
    ...skills.flatMap(({ file, tools }) => [file, ...tools.map(({ script }) => script)]),
    ...serverCode(config.mcp.servers),
  ]
    .map((path) => resolve(agentDirectory, path))
    // A server that lies in the agent's own folder is guarded as a file.
    .filter((path) => path !== agentDirectory);
  const reading: WritableReading = { folders: [], problems: [], warnings: [] };
  for (const [index, name] of config.egress.writable.entries()) {
    const at = (message: string) => problemAt(['egress', 'writable', index], message);
    const found = await writableFolder(name, { agentDirectory, guarded });
    if ('mistake' in found) reading.problems.push(at(found.mistake));
    else if (reading.folders.some((other) => overlap(other, found.path))) {
      reading.problems.push(
        at('an earlier folder of the list is, holds or lies in this; keep one'),
      );
    } else {
      reading.folders.push(found.path);
      if (found.warning !== null) reading.warnings.push(at(found.warning));
    }
  }
  if (config.egress.writable.length === 0)
    reading.warnings.push(...withoutPlace(config, problemAt));
  return reading;
}

type Loaded = Extract<ConfigReading, { ok: true }>;

/** Warns of listed tools that write files and have no folder to write to (docs/contract/governance.md). */
function withoutPlace(
  { builtin_tools: names }: Loaded['config'],
  problemAt: Loaded['problemAt'],
): ConfigProblem[] {
  return [...names.entries()]
    .filter(([, name]) => name === 'file_write' || name === 'file_edit')
    .map(([index, name]) =>
      problemAt(
        ['builtin_tools', index],
        `${name} can write no file, as egress.writable names no folder; write egress: {writable: [work]}`,
      ),
    );
}

/** True when one folder lies in the other: scripts could swap it for a link before it is opened. */
function overlap(one: string, other: string): boolean {
  return `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);
}

/** Makes the folders that are missing, for the user of the daemon alone. Rejects when one cannot be. */
export async function makeWritable(folders: readonly string[]): Promise<void> {
  for (const folder of folders) await mkdir(folder, { recursive: true, mode: 0o700 });
}
