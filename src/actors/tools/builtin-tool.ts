import type { JsonObject } from '../../machines/json.ts';
import type { Clock, Tool } from '../ports.ts';
import { checkArguments, compileSchema, validateArguments } from '../skills/skills.ts';

/** What builtin tools are given from outside. */
export interface BuiltinDependencies {
  clock: Pick<Clock, 'now'>;
}

/** Makes a tool whose arguments are checked against its own JSON Schema before it runs. */
export function builtinTool(tool: Tool): Tool {
  const schema = compileSchema(tool.parameters);
  return {
    ...tool,
    check: (args) => checkArguments(tool.name, schema, args),
    async run(args: JsonObject, run) {
      validateArguments(tool.name, schema, args);
      return tool.run(args, run);
    },
  };
}
