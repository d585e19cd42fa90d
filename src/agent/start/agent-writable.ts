import { mkdir, realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  type ConfigProblem,
  type ConfigReading,
  dashboardFile,
  peopleFile,
} from '../../actors/config/config.ts';
import { type Skill, serverCode, writableFolder } from '../../actors/tools/tools.ts';
import { statePaths } from './state-paths.ts';

/** The result of resolving `egress.writable`. */
export interface WritableReading {
  /** Absolute paths with links resolved. Some folders may not exist yet. */
  folders: string[];
  problems: ConfigProblem[];
  warnings: ConfigProblem[];
}

/**
 * Resolves the folders that an agent's scripts may write to persistently, without creating them. Rejects folders that
 * contain configuration, state or code of the agent, so no script can change them (docs/contract/egress.md).
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
    // A script that could write the instructions file could give the model any instruction.
    ...(typeof config.instructions === 'string' ? [] : [config.instructions.file]),
    // A script that could write it could make anyone an approver.
    peopleFile,
    // A script that could write it could make anyone an operator.
    dashboardFile,
    ...config.channels.map((channel) => `${channel}-config.yaml`),
    ...skills.flatMap(({ file, tools }) => [file, ...tools.map(({ script }) => script)]),
    ...serverCode(config.mcp.servers),
    ...(config.included ?? []).flatMap(({ path }) => path ?? []),
  ]
    .map((path) => resolve(agentDirectory, path))
    // An MCP server in the agent's root folder is protected as a file, not by its folder.
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

/** Warns about enabled tools that write files when no writable folder is configured (docs/contract/governance.md). */
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

/** True if one folder contains the other. Scripts could replace the inner folder with a link before it is opened. */
function overlap(one: string, other: string): boolean {
  return `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);
}

/** Creates missing folders with mode 0700. Rejects if a folder cannot be created. */
export async function makeWritable(folders: readonly string[]): Promise<void> {
  for (const folder of folders) await mkdir(folder, { recursive: true, mode: 0o700 });
}
