import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../machines/json.ts';
import { type Clock, type Tool, ToolError, type ToolRun } from '../ports.ts';
import {
  checkArguments,
  compileSchema,
  type ScriptDefinition,
  validateArguments,
} from '../skills/skills.ts';
import { interpreterOf } from './interpreter.ts';
import { lastLines } from './last-lines.ts';
import { type ProcessEnd, type ProcessLimits, runProcess } from './run-process.ts';
import { type ScriptSurroundings, scriptEnvironment } from './script-environment.ts';

/** Linux takes at most 128 KiB for one argument, its closing zero byte included. */
const largestArgument = 128 * 1024 - 1;

const usualLimits: ProcessLimits = { timeout: 60_000, grace: 2_000, outputBytes: 1024 * 1024 };

/** What a script tool is given from outside. */
export interface ScriptDependencies extends ScriptSurroundings {
  clock: Clock;
  /** 60 s, 2 s and 1 MiB when left out. */
  limits?: Partial<ProcessLimits>;
}

/**
 * Makes a tool of a skill's script (contract section 13).
 *
 * The script gets the arguments as JSON on standard input and as its first argument. Arguments of 128 KiB
 * and more come on standard input alone, and the first argument is `-`. It runs in a private folder that
 * is removed afterwards, with an environment built from nothing. Its standard output without one final
 * newline is the result; a non-zero exit is a ToolError with the last lines of its standard error.
 */
export function scriptTool(definition: ScriptDefinition, dependencies: ScriptDependencies): Tool {
  const { name, description, parameters, idempotent } = definition;
  const schema = compileSchema(parameters);
  return {
    name,
    description,
    parameters,
    idempotent,
    check: (args) => checkArguments(name, schema, args),
    async run(args, run) {
      validateArguments(name, schema, args);
      const secrets = [
        ...definition.environment.map((variable) => dependencies.env[variable] ?? ''),
        ...(run.credential?.secretValues() ?? []),
      ];
      return resultOf(name, await runScript(definition, dependencies, args, run), secrets);
    },
  };
}

async function runScript(
  definition: ScriptDefinition,
  dependencies: ScriptDependencies,
  args: JsonObject,
  run: ToolRun,
): Promise<ProcessEnd> {
  const program = interpreterOf(definition.name, definition.script);
  const input = JSON.stringify(args);
  const argument = Buffer.byteLength(input) > largestArgument ? '-' : input;
  const home = await mkdtemp(join(await realpath(tmpdir()), 'holdpoint-'));
  const env = scriptEnvironment(dependencies, definition.environment, home, run);
  const command = { program, args: [definition.script, argument], cwd: home, env, input };
  const limits = { ...usualLimits, ...dependencies.limits };
  try {
    return await runProcess(command, limits, { clock: dependencies.clock, signal: run.signal });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown reason';
    throw new ToolError(`${definition.name} could not be started (${code})`, { cause: error });
  } finally {
    // What the call did stands, even when its folder cannot be removed.
    await rm(home, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

function resultOf(tool: string, end: ProcessEnd, secrets: string[]): string {
  switch (end.kind) {
    case 'timedOut':
      throw new ToolError(`${tool} took too long and was stopped; its outcome is unknown`);
    case 'aborted':
      throw new ToolError(`${tool} was stopped because its task was`);
    case 'tooMuchOutput':
      throw new ToolError(`${tool} wrote more than a tool may and was stopped; let it write less`);
    case 'exited': {
      if (end.code === 0) return end.stdout.replace(/\n$/, '');
      const how = end.signal ? `was ended by ${end.signal}` : `failed with exit code ${end.code}`;
      const lines = lastLines(end.stderr, secrets);
      throw new ToolError(`${tool} ${how}${lines === '' ? '' : `: ${lines}`}`);
    }
  }
}
