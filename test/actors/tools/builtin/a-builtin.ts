import { realpathSync } from 'node:fs';
import type { Tool } from '../../../../src/actors/ports.ts';
import { agentFiles } from '../../../../src/actors/tools/builtin/agent-files.ts';
import type { BuiltinDependencies } from '../../../../src/actors/tools/builtin/builtin-tool.ts';
import { builtinTools } from '../../../../src/actors/tools/tools.ts';
import { clock } from './isolated-script.ts';

/** A builtin tool of an agent in `directory`, whose state lies in `.service` and whose code in `scripts` and `skills`. */
export async function aBuiltin(
  name: string,
  directory = '/nonexistent',
  overrides: Partial<BuiltinDependencies> = {},
): Promise<Tool> {
  const files = await agentFiles({
    directory: directory === '/nonexistent' ? directory : realpathSync(directory),
    state: ['.service', 'data/tasks.db'],
    code: ['scripts', 'skills', 'lib/main.py'],
  });
  const dependencies = { clock, env: {}, agentDirectory: directory, files, settings: () => ({}) };
  const [tool] = builtinTools([name], { ...dependencies, ...overrides });
  if (tool === undefined) throw new Error('no tool');
  return tool;
}
