import { dirname, relative } from 'node:path';
import type { Tool } from '../../ports/tool.ts';
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

/** Maximum length of one argument on Linux: 128 KiB including its terminating zero byte. */
const largestArgument = 128 * 1024 - 1;

/**
 * Creates a tool from a skill's script (docs/contract/models.md).
 *
 * The script receives the arguments as JSON on standard input and as its first argument. Arguments of 128 KiB and more
 * are passed only on standard input, with `-` as the first argument. The script runs in a private folder that is
 * removed afterwards, with an environment built from nothing, and only if its code is unchanged since the agent's
 * start. The result is its standard output without one final newline and without its proxy credentials; a non-zero exit
 * is a ToolError with the last lines of its standard error.
 */
export function scriptTool(definition: ScriptDefinition, dependencies: ScriptDependencies): Tool {
  const { name, description, parameters, idempotent, environment, skill, code, timeout } =
    definition;
  const limited = timeout === undefined ? {} : { timeout };
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
      const script = relative(agentDirectory, definition.script);
      return { script, environment: given, code, ...limited };
    },
    async run(args, run) {
      validateArguments(name, schema(), args);
      const program = interpreterOf(name, definition.script);
      const input = JSON.stringify(args);
      const argument = Buffer.byteLength(input) > largestArgument ? '-' : input;
      const job = { name, program, args: [definition.script, argument], input };
      const limits = { ...limited, ...dependencies.limits };
      return runIsolated(
        { ...job, environment, skill, code, isModels: false },
        { ...dependencies, limits },
        run,
      );
    },
  };
}
