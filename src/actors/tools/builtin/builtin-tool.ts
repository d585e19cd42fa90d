import type { JsonObject } from '../../../machines/json.ts';
import { type Tool, ToolError, type ToolRun } from '../../ports/tool.ts';
import type { ScriptDependencies } from '../scripts/run-isolated.ts';
import { checkArguments, compileLater, validateArguments } from '../skills/skills.ts';
import type { AgentFiles } from './agent-files.ts';
import type { ToolConfig } from './tool-config.ts';

export interface BuiltinDependencies extends ScriptDependencies {
  files: AgentFiles;
  /** Returns the settings in `tools` of a builtin tool; empty for an unlisted one. */
  settings: (tool: string) => ToolConfig;
}

/** A tool without argument validation; `Arguments` is the type that fits its JSON Schema. */
export type UncheckedTool<Arguments> = Omit<Tool, 'run'> & {
  run: (args: Arguments, run: ToolRun) => Promise<string>;
};

/**
 * Creates a tool whose arguments are validated against its JSON Schema, and then by its own `check`, before it runs.
 */
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
