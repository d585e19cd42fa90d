import type { JsonObject } from '../../../machines/json.ts';
import { type Tool, ToolError, type ToolRun } from '../../ports.ts';
import type { ScriptDependencies } from '../scripts/run-isolated.ts';
import { checkArguments, compileLater, validateArguments } from '../skills/skills.ts';
import type { AgentFiles } from './agent-files.ts';
import type { ToolConfig } from './tool-config.ts';

/** What builtin tools are given from outside. */
export interface BuiltinDependencies extends ScriptDependencies {
  files: AgentFiles;
  /** What `tools` says of a builtin tool; nothing for one it does not name. */
  settings: (tool: string) => ToolConfig;
}

/** A tool before its arguments are checked; `Arguments` are those that fit its JSON Schema. */
export type UncheckedTool<Arguments> = Omit<Tool, 'run'> & {
  run: (args: Arguments, run: ToolRun) => Promise<string>;
};

/** Makes a tool whose arguments are checked against its own JSON Schema, and then by its own `check`, before it runs. */
export function builtinTool<Arguments = JsonObject>(tool: UncheckedTool<Arguments>): Tool {
  const schema = compileLater(tool.parameters);
  return {
    ...tool,
    check: (args) => checkArguments(tool.name, schema(), args) ?? tool.check?.(args) ?? null,
    async run(args: JsonObject, run) {
      validateArguments(tool.name, schema(), args);
      const misfit = tool.check?.(args) ?? null;
      if (misfit !== null) throw new ToolError(misfit, { kind: 'invalid arguments' });
      await run.confirm?.();
      return tool.run(args as Arguments, run);
    },
  };
}
