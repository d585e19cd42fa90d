import { type Tool, ToolError } from '../../ports/tool.ts';
import { findProgram } from '../../process/process.ts';
import { runIsolated } from '../scripts/run-isolated.ts';
import { digestOf, digestTree } from '../skills/skills.ts';
import { type BuiltinDependencies, builtinTool } from './builtin-tool.ts';

/** Arguments of the model. */
interface Asked {
  command: string;
  args?: string[];
  stdin?: string;
}

/**
 * Runs one of the programs listed in `tools`, always in the sandbox of scripts, since a model chooses its arguments
 * (docs/contract/egress.md, docs/contract/models.md). Never uses a shell.
 */
export function cliExecute(dependencies: BuiltinDependencies): Tool {
  const { commands = [], timeout } = dependencies.settings('cli_execute');
  return builtinTool<Asked>({
    name: 'cli_execute',
    description:
      "Runs a program and returns what it prints. There is no shell: no pipes, variables, wildcards or redirections. The agent's files are in the folder that SERVICE_AGENT_DIR names.",
    parameters: {
      type: 'object',
      properties: {
        command: {
          type: 'string',
          ...(commands.length > 0 ? { enum: [...commands] } : {}),
          description: 'The program to run',
        },
        args: {
          type: 'array',
          items: { type: 'string' },
          maxItems: 200,
          description: 'Its arguments, one by one, such as ["-n", "2"]',
        },
        stdin: { type: 'string', description: 'What it reads from its standard input' },
      },
      required: ['command'],
      additionalProperties: false,
    },
    idempotent: false,
    check(given) {
      const { args = [] } = given as unknown as Asked;
      return args.some((word) => word.includes('\0'))
        ? 'cli_execute: an argument is no text'
        : null;
    },
    async identity() {
      const { agentDirectory, isolation } = dependencies;
      const { hidden = [], writable = [] } = isolation?.() ?? {};
      const programs = commands.map(async (name) => [name, await programDigest(name)] as const);
      // A program may be asked to run a file of the agent.
      const code = await digestTree({ agentDirectory, own: [], apart: [...hidden, ...writable] });
      return { programs: Object.fromEntries(await Promise.all(programs)), code };
    },
    async run({ command, args = [], stdin = '' }, run) {
      const program = commands.includes(command) ? findProgram(command) : null;
      if (program === null) {
        throw new ToolError(`cli_execute: ${command} is not installed`, { kind: 'not started' });
      }
      const limits = { ...dependencies.limits, ...(timeout === undefined ? {} : { timeout }) };
      return runIsolated(
        {
          name: 'cli_execute',
          program,
          args,
          input: stdin,
          environment: [],
          code: new Map(),
          isModels: true,
        },
        { ...dependencies, limits },
        run,
      );
    },
  });
}

async function programDigest(name: string): Promise<string> {
  const program = findProgram(name);
  return program === null ? 'missing' : digestOf(program);
}
