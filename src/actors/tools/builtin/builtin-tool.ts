import type { JsonObject } from '../../../machines/json.ts';
import { type Clock, type Tool, ToolError } from '../../ports.ts';
import { checkArguments, compileSchema, validateArguments } from '../skills/skills.ts';

/** What builtin tools are given from outside. */
export interface BuiltinDependencies {
  clock: Pick<Clock, 'now'>;
}

/** Makes a tool whose arguments are checked against its own JSON Schema, and then by its own `check`, before it runs. */
export function builtinTool(tool: Tool): Tool {
  const schema = compileSchema(tool.parameters);
  return {
    ...tool,
    check: (args) => checkArguments(tool.name, schema, args) ?? tool.check?.(args) ?? null,
    async run(args: JsonObject, run) {
      validateArguments(tool.name, schema, args);
      const misfit = tool.check?.(args) ?? null;
      if (misfit !== null) throw new ToolError(misfit, { kind: 'invalid arguments' });
      return tool.run(args, run);
    },
  };
}
