import { rm } from 'node:fs/promises';
import { relative } from 'node:path';
import { redactSecrets } from '../../governance/governance.ts';
import type { EgressProxy, ProxyPass } from '../../outbound/outbound.ts';
import type { Clock } from '../../ports/clock.ts';
import { ToolError, type ToolRun } from '../../ports/tool.ts';
import {
  FolderTooLargeError,
  isolate,
  makePrivateHome,
  SandboxError,
  type SandboxLevel,
} from '../sandbox/sandbox.ts';
import { changedCode, type ScriptDefinition } from '../skills/skills.ts';
import { lastLines } from './last-lines.ts';
import { type ProcessEnd, type ProcessLimits, runProcess } from './run-process.ts';
import { type ScriptSurroundings, scriptEnvironment } from './script-environment.ts';

const usualLimits: ProcessLimits = { timeout: 60_000, grace: 2_000, outputBytes: 1024 * 1024 };

const unguarded: ScriptIsolation = { proxy: null, sandbox: 'env' };

/** Isolation of scripts, and their only egress. */
export interface ScriptIsolation {
  /** `null` for no egress. */
  proxy: EgressProxy | null;
  sandbox: SandboxLevel;
  /** Absolute paths in the agent's folder that a sandbox hides, in addition to entries named like secrets. */
  hidden?: readonly string[];
  /** Absolute paths of folders in it, links resolved, to which scripts may write permanently. */
  writable?: readonly string[];
}

export interface ScriptDependencies extends ScriptSurroundings {
  clock: Clock;
  /** Called for each call; no proxy and level `env` when absent or `null`. */
  isolation?: () => ScriptIsolation | null;
  /** 60 s, 2 s and 1 MiB by default. */
  limits?: Partial<ProcessLimits>;
}

/** A program that a tool runs for a model. */
export interface IsolatedProgram {
  /** Name of the tool. */
  name: string;
  program: string;
  args: string[];
  /** Written to its standard input. */
  input: string;
  /** Names of the variables that it receives. */
  environment: readonly string[];
  /** The skill whose hosts are open to it, in addition to those open to everybody. */
  skill?: string;
  /** Digest of its code at the agent's start; the code must be unchanged. */
  code: ScriptDefinition['code'];
  /** True if the model chooses the command; it then runs in the agent's folder and always in a sandbox. */
  isModels: boolean;
}

/**
 * Runs an isolated program for a call, in a private folder that is removed afterwards and with an environment built
 * from nothing. The result is its standard output without one final newline and without its proxy credentials; a
 * non-zero exit is a ToolError with the last lines of its standard error. Rejects with a ToolError.
 */
export async function runIsolated(
  job: IsolatedProgram,
  dependencies: ScriptDependencies,
  run: ToolRun,
): Promise<string> {
  const { taskId, correlationId, tags } = run;
  const isolation = dependencies.isolation?.() ?? unguarded;
  if (job.isModels && isolation.sandbox !== 'bwrap') {
    throw new ToolError(`${job.name} was not run: there is no sandbox`, { kind: 'not started' });
  }
  const scope = { taskId, correlationId, tags };
  const pass =
    isolation.proxy?.admit(job.skill === undefined ? scope : { ...scope, skill: job.skill }) ??
    null;
  try {
    const end = await runKeptApart(job, dependencies, isolation, { run, pass });
    const passSecrets = pass?.secretValues ?? [];
    const result = resultOf(job.name, end, [
      ...job.environment.map((variable) => dependencies.env[variable] ?? ''),
      ...(run.credential?.secretValues() ?? []),
      ...passSecrets,
    ]);
    return redactSecrets(result, passSecrets);
  } finally {
    pass?.release();
  }
}

/** One call of a tool, with its proxy credentials. */
interface Call {
  run: ToolRun;
  pass: ProxyPass | null;
}

async function runKeptApart(
  { name, program, args, input, environment: declared, code, isModels }: IsolatedProgram,
  dependencies: ScriptDependencies,
  { proxy, sandbox: level, hidden = [], writable = [] }: ScriptIsolation,
  { run, pass }: Call,
): Promise<ProcessEnd> {
  const limits = { ...usualLimits, ...dependencies.limits };
  const { agentDirectory, clock } = dependencies;
  const home = await makePrivateHome('script', proxy?.socketPath);
  const cwd = isModels ? agentDirectory : home;
  const work = writable[0] ?? null;
  const env = scriptEnvironment(
    dependencies,
    { declared, home, work, proxy: pass?.env ?? {} },
    run,
  );
  const { timeout } = limits;
  const place = { level, agentDirectory, hidden, writable, home, cwd, proxy, timeout };
  try {
    const isolated = await isolate(program, args, place);
    const command = { ...isolated, cwd, env, input };
    const changed = await changedCode(code);
    if (changed !== null) throw codeChanged(name, relative(agentDirectory, changed));
    await run.confirm?.();
    return await runProcess(command, limits, { clock, signal: run.signal });
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError(`${name} could not be started (${reasonOf(error)})`, {
      kind: 'not started',
      cause: error,
    });
  } finally {
    // A failure to remove the folder does not change the result of the call.
    await rm(home, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

function codeChanged(tool: string, file: string): ToolError {
  const message = `${tool} was not run: ${file} has changed since the agent started; restart the agent to use it`;
  return new ToolError(message, { kind: 'script changed' });
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
        isUnknown: true,
      });
    case 'aborted':
      throw new ToolError(`${tool} was stopped because its task was`, {
        ...{ kind: 'stopped', isUnknown: true },
      });
    case 'tooManyProcesses':
      throw new ToolError(`${tool} started more processes than a tool may and was stopped`, {
        kind: 'too many processes',
        isUnknown: true,
      });
    case 'tooMuchOutput':
      throw new ToolError(`${tool} wrote more than a tool may and was stopped; let it write less`, {
        kind: 'too much output',
        isUnknown: true,
      });
    case 'exited': {
      if (end.code === 0) return end.stdout.replace(/\n$/, '');
      const [how, kind] = end.signal
        ? [`was ended by ${end.signal}`, `signal ${end.signal}`]
        : [`failed with exit code ${end.code}`, `exit code ${end.code}`];
      const lines = lastLines(end.stderr, secrets);
      const isUnknown = Boolean(end.signal);
      throw new ToolError(`${tool} ${how}${lines === '' ? '' : `: ${lines}`}`, { kind, isUnknown });
    }
  }
}
