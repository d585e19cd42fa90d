import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { JsonObject } from '../../../machines/json.ts';
import { redactSecrets } from '../../governance/governance.ts';
import type { EgressProxy, ProxyPass } from '../../outbound/outbound.ts';
import { type Clock, type Tool, ToolError, type ToolRun } from '../../ports.ts';
import {
  FolderTooLargeError,
  isolate,
  SandboxError,
  type SandboxLevel,
} from '../sandbox/sandbox.ts';
import {
  changedCode,
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

const unguarded: ScriptIsolation = { proxy: null, sandbox: 'env' };

/** How scripts are isolated, and their only egress. */
export interface ScriptIsolation {
  /** `null` for none. */
  proxy: EgressProxy | null;
  sandbox: SandboxLevel;
  /** Absolute paths in the agent's folder that a sandbox hides besides those named like secrets. */
  hidden?: readonly string[];
  /** Folders in it, absolute with links resolved, that scripts may write and keep. */
  writable?: readonly string[];
}

/** What a script tool is given from outside. */
export interface ScriptDependencies extends ScriptSurroundings {
  clock: Clock;
  /** Asked at each call; no proxy and level `env` when left out or `null`. */
  isolation?: () => ScriptIsolation | null;
  /** 60 s, 2 s and 1 MiB when left out. */
  limits?: Partial<ProcessLimits>;
}

/**
 * Makes a tool of a skill's script (contract section 13).
 *
 * The script gets the arguments as JSON on standard input and as its first argument. Arguments of 128 KiB
 * and more come on standard input alone, and the first argument is `-`. It runs in a private folder that
 * is removed afterwards, with an environment built from nothing, and not at all when its code is not what it
 * was when the agent started. Its standard output without one final newline is the result, less what it signs in
 * with at the proxy; a non-zero exit is a ToolError with the last lines of its standard error.
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
      const { taskId, correlationId, tags } = run;
      const isolation = dependencies.isolation?.() ?? unguarded;
      const pass =
        isolation.proxy?.admit({ taskId, correlationId, tags, skill: definition.skill }) ?? null;
      try {
        const end = await runScript(definition, dependencies, isolation, { args, run, pass });
        const passSecrets = pass?.secretValues ?? [];
        const result = resultOf(name, end, [
          ...definition.environment.map((variable) => dependencies.env[variable] ?? ''),
          ...(run.credential?.secretValues() ?? []),
          ...passSecrets,
        ]);
        return redactSecrets(result, passSecrets);
      } finally {
        pass?.release();
      }
    },
  };
}

/** One call of a tool, and what it shows the proxy. */
interface Call {
  args: JsonObject;
  run: ToolRun;
  pass: ProxyPass | null;
}

async function runScript(
  { name, script, code, environment: declared }: ScriptDefinition,
  dependencies: ScriptDependencies,
  { proxy, sandbox: level, hidden = [], writable = [] }: ScriptIsolation,
  { args, run, pass }: Call,
): Promise<ProcessEnd> {
  const program = interpreterOf(name, script);
  const input = JSON.stringify(args);
  const argument = Buffer.byteLength(input) > largestArgument ? '-' : input;
  const limits = { ...usualLimits, ...dependencies.limits };
  const { agentDirectory, clock } = dependencies;
  const home = await makeHome(proxy);
  const work = writable[0] ?? null;
  const env = scriptEnvironment(
    dependencies,
    { declared, home, work, proxy: pass?.env ?? {} },
    run,
  );
  const place = { level, agentDirectory, hidden, writable, home, proxy, timeout: limits.timeout };
  try {
    const isolated = await isolate(program, [script, argument], place);
    const command = { ...isolated, cwd: home, env, input };
    const changed = await changedCode(code);
    if (changed !== null) throw codeChanged(name, relative(agentDirectory, changed));
    return await runProcess(command, limits, { clock, signal: run.signal });
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError(`${name} could not be started (${reasonOf(error)})`, {
      kind: 'not started',
      cause: error,
    });
  } finally {
    // What the call did stands, even when its folder cannot be removed.
    await rm(home, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

function codeChanged(tool: string, file: string): ToolError {
  const message = `${tool} was not run: ${file} is not what it was when the agent started; restart the agent to use it`;
  return new ToolError(message, { kind: 'script changed' });
}

/** Makes the private folder of one run, in that of the daemon, where it is found again after a kill. */
async function makeHome(proxy: EgressProxy | null): Promise<string> {
  if (proxy === null) return mkdtemp(join(await realpath(tmpdir()), 'holdpoint-'));
  return mkdtemp(join(dirname(proxy.socketPath), 'script-'));
}

function reasonOf(error: unknown): string {
  if (error instanceof SandboxError || error instanceof FolderTooLargeError) return error.message;
  return (error as NodeJS.ErrnoException).code ?? 'unknown reason';
}

function resultOf(tool: string, end: ProcessEnd, secrets: string[]): string {
  switch (end.kind) {
    case 'timedOut':
      throw new ToolError(`${tool} took too long and was stopped; its outcome is unknown`, {
        kind: 'timeout',
      });
    case 'aborted':
      throw new ToolError(`${tool} was stopped because its task was`, { kind: 'stopped' });
    case 'tooManyProcesses':
      throw new ToolError(`${tool} started more processes than a tool may and was stopped`, {
        kind: 'too many processes',
      });
    case 'tooMuchOutput':
      throw new ToolError(`${tool} wrote more than a tool may and was stopped; let it write less`, {
        kind: 'too much output',
      });
    case 'exited': {
      if (end.code === 0) return end.stdout.replace(/\n$/, '');
      const [how, kind] = end.signal
        ? [`was ended by ${end.signal}`, `signal ${end.signal}`]
        : [`failed with exit code ${end.code}`, `exit code ${end.code}`];
      const lines = lastLines(end.stderr, secrets);
      throw new ToolError(`${tool} ${how}${lines === '' ? '' : `: ${lines}`}`, { kind });
    }
  }
}
