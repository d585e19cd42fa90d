import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Tool } from '../../../../src/actors/ports/tool.ts';
import { agentFiles } from '../../../../src/actors/tools/builtin/agent-files.ts';
import type { BuiltinDependencies } from '../../../../src/actors/tools/builtin/builtin-tool.ts';
import { builtinTools } from '../../../../src/actors/tools/tools.ts';
import { clock } from './isolated-script.ts';

/** A builtin tool of an agent in `directory`, whose state lies in `.service` and whose code in `scripts` and `skills`. */
export async function aBuiltin(
  name: string,
  directory = '/nonexistent',
  overrides: Partial<BuiltinDependencies> = {},
  writable: readonly string[] = ['work'],
): Promise<Tool> {
  const agentDirectory = directory === '/nonexistent' ? directory : realpathSync(directory);
  const files = await agentFiles({
    directory: agentDirectory,
    state: ['.service', 'data/tasks.db'],
    code: ['scripts', 'skills', 'lib/main.py'],
    writable: () => writable.map((folder) => join(agentDirectory, folder)),
  });
  const dependencies = { clock, env: {}, agentDirectory: directory, files, settings: () => ({}) };
  const [tool] = builtinTools([name], { ...dependencies, ...overrides });
  if (tool === undefined) throw new Error('no tool');
  return tool;
}
