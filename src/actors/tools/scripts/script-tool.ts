import { dirname, relative } from 'node:path';
import { type Tool } from '../../ports.ts';
import { digestSettings } from '../digest-settings.ts';
import {
  checkArguments,
  compileLater,
  digestTree,
  type ScriptDefinition,
  validateArguments,
} from '../skills/skills.ts';
import { interpreterOf } from './interpreter.ts';
import { runIsolated, type ScriptDependencies } from './run-isolated.ts';

/** Linux takes at most 128 KiB for one argument, its closing zero byte included. */
const largestArgument = 128 * 1024 - 1;

/**
 * Makes a tool of a skill's script (docs/contract/models.md).
 *
 * The script gets the arguments as JSON on standard input and as its first argument. Arguments of 128 KiB and more come
 * on standard input alone, and the first argument is `-`. It runs in a private folder that is removed afterwards, with
 * an environment built from nothing, and not at all when its code is not what it was when the agent started. Its
 * standard output without one final newline is the result, less what it signs in with at the proxy; a non-zero exit is
 * a ToolError with the last lines of its standard error.
 */
export function scriptTool(definition: ScriptDefinition, dependencies: ScriptDependencies): Tool {
  const { name, description, parameters, idempotent, environment, skill, code } = definition;
  const schema = compileLater(parameters);
  return {
    name,
    description,
    parameters,
    idempotent,
    check: (args) => checkArguments(name, schema(), args),
    async identity() {
      const { agentDirectory, isolation } = dependencies;
      const { hidden = [], writable = [] } = isolation?.() ?? {};
      const own = [dirname(definition.script)];
      const code = await digestTree({ agentDirectory, own, apart: [...hidden, ...writable] });
      const given = digestSettings(
        Object.fromEntries(environment.map((one) => [one, dependencies.env[one]])),
      );
      return { script: relative(agentDirectory, definition.script), environment: given, code };
    },
    async run(args, run) {
      validateArguments(name, schema(), args);
      const program = interpreterOf(name, definition.script);
      const input = JSON.stringify(args);
      const argument = Buffer.byteLength(input) > largestArgument ? '-' : input;
      const job = { name, program, args: [definition.script, argument], input };
      return runIsolated({ ...job, environment, skill, code, isModels: false }, dependencies, run);
    },
  };
}
