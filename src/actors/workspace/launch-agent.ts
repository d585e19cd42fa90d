import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { ServedAgent } from '../../machines/agent-process/served-agent.ts';
import { logFileVariable, readServeFile } from '../process/process.ts';
import { readCrashNote, removeCrashNote, writeCrashNote } from './crash-note.ts';
import { connectTo } from './own-process.ts';
import { lastFailure, markStart, openServeLog, serveLogPath } from './serve-log.ts';
import { servedAgent, sightAgent } from './sight-agent.ts';

/** Command that runs an agent in the foreground. */
export interface AgentCommand {
  file: string;
  /** Arguments before `run`. */
  args: readonly string[];
  env: NodeJS.ProcessEnv;
}

export interface LaunchOptions {
  /** Absolute path of the agent's folder. */
  directory: string;
  command: AgentCommand;
  /** Arguments after `run --dir DIR`. */
  flags?: readonly string[];
  /** Opens its secrets; passed through a pipe, so that no process list shows it. */
  passphrase: string | null;
  /** Time for the agent to become ready, in milliseconds. */
  patience?: number;
}

/** The agent did not become ready; the message is the last error in its log. */
export class LaunchError extends Error {
  readonly code: 'already_running' | 'start_failed';

  constructor(code: LaunchError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** A daemon first opens its store and log, which takes long on a slow disk. */
const usualPatience = 120_000;

const lookEvery = 40;

/**
 * Starts an agent in the background and resolves once its port responds and it is ready (docs/contract/serve.md). The
 * agent outlives this process. Rejects with a LaunchError, also if the agent is already running.
 */
export async function launchAgent(options: LaunchOptions): Promise<ServedAgent> {
  const { directory, patience = usualPatience } = options;
  const sighting = await sightAgent(directory);
  if (sighting.kind === 'served') {
    const { pid } = sighting.served;
    throw new LaunchError('already_running', `the agent runs already (process ${pid})`);
  }
  const child = start(options);
  const ended = new Promise<string | null>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('exit', () => resolve(null));
  });
  const controller = new AbortController();
  const failed = ended.then((reason) => {
    throw failure(directory, child.pid, reason);
  });
  try {
    const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(patience)]);
    return await Promise.race([untilReady(directory, child, signal), failed]);
  } catch (error) {
    if (error instanceof LaunchError) throw error;
    child.kill('SIGKILL');
    const seconds = Math.round(patience / 1_000);
    throw noted(
      directory,
      `the agent did not answer within ${seconds} s; see ${serveLogPath(directory)}`,
    );
  } finally {
    controller.abort();
    failed.catch(() => undefined);
    child.removeAllListeners();
    child.unref();
  }
}

function start({ directory, command, flags = [], passphrase }: LaunchOptions): ChildProcess {
  mkdirSync(join(directory, '.service'), { recursive: true, mode: 0o700 });
  const log = openServeLog(directory);
  try {
    removeCrashNote(directory);
    const { SERVICE_PASSPHRASE: _, SERVICE_PASSPHRASE_FD: __, ...env } = command.env;
    const own = {
      [logFileVariable]: serveLogPath(directory),
      ...(passphrase === null ? {} : { SERVICE_PASSPHRASE_FD: '3' }),
    };
    const child = spawn(command.file, [...command.args, 'run', '--dir', directory, ...flags], {
      cwd: directory,
      detached: true,
      env: { ...env, ...own },
      stdio: ['ignore', log, log, passphrase === null ? 'ignore' : 'pipe'],
    });
    if (child.pid !== undefined) markStart(log, child.pid);
    const pipe = child.stdio[3] as Writable | null | undefined;
    // If the child ends before it reads, its exit is reported instead.
    pipe?.on('error', () => undefined);
    pipe?.end(`${passphrase}\n`);
    return child;
  } finally {
    closeSync(log);
  }
}

async function untilReady(
  directory: string,
  { pid }: ChildProcess,
  signal: AbortSignal,
): Promise<ServedAgent> {
  for (;;) {
    await wait(lookEvery, null, { signal });
    const served = readServeFile(join(directory, '.service'));
    if (served === null || served.pid !== pid) continue;
    const connection = connectTo(directory, served);
    try {
      const { statusCode, body } = await connection.send({
        method: 'GET',
        path: '/readyz',
        accept: 'application/json',
        signal,
      });
      await body.dump();
      if (statusCode === 200) return servedAgent(served);
    } catch {
      signal.throwIfAborted();
    } finally {
      await connection.close();
    }
  }
}

function failure(directory: string, pid: number | undefined, reason: string | null): LaunchError {
  const said = reason ?? (pid === undefined ? null : lastFailure(directory, pid));
  return noted(directory, said ?? `the agent ended without a word; see ${serveLogPath(directory)}`);
}

/** Another start may have won; its agent has not crashed. */
function noted(directory: string, message: string): LaunchError {
  const isServed = readServeFile(join(directory, '.service')) !== null;
  if (!isServed && readCrashNote(directory) === null) writeCrashNote(directory, message);
  return new LaunchError('start_failed', message);
}
