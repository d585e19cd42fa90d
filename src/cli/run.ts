import { flushCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { commandLine } from '../actors/command-line.ts';
import type { Log } from '../actors/ports/log.ts';
import {
  createNotifier,
  type ListedAgent,
  listAgent,
  logFileVariable,
  noteStartFlags,
  RotatedLog,
  runningAgents,
  takeNotifySettings,
} from '../actors/process/process.ts';
import { createLog } from '../actors/telemetry/telemetry.ts';
import { serveLogPath } from '../actors/workspace/workspace.ts';
import {
  type Agent,
  type AgentOptions,
  ConfigError,
  startAgent,
} from '../agent/start/start-agent.ts';
import { codeOf } from '../machines/error-code.ts';
import { messageOf } from '../machines/message-of.ts';
import { CliError, exitCodes } from './cli-error.ts';
import { configFailure } from './config-failure.ts';
import { logWarnings, printWarnings } from './config-warnings.ts';
import { type DaemonFlags, daemonWords } from './daemon-flags.ts';
import { plainLine } from './plain-text.ts';
import { rateLimitOf } from './rate-limit-flags.ts';
import { passphraseFor } from './secret-access.ts';
import { serveUntil } from './serve-until.ts';
import { tellServiceManager } from './service-news.ts';
import type { Session } from './session.ts';
import { strayNotes } from './signals.ts';

export interface RunOptions extends DaemonFlags {
  inspect?: number | true;
}

const defaultInspectPort = 8181;

function toOpen(): string {
  const page = commandLine('docs debugging#4-watch-it-live');
  return `open it in Stately's viewer: ${page}; \`holdpoint ui\` draws the same charts`;
}

/** `run`: runs an agent in the foreground until a signal stops it (docs/contract/command.md). */
export async function run(session: Session, options: RunOptions): Promise<void> {
  const { output, interruption, env } = session;
  const logPath = logPathOf(env);
  const stream = logPath === null ? process.stderr : new RotatedLog(logPath);
  const log = createLog({ level: output.isDebug ? 'debug' : 'info', stream });
  exitOnDefect(log);
  const settings = takeNotifySettings(env);
  const notify = createNotifier({ settings, log });
  const stopped = stopSignal(
    interruption.listen({ isReaderNeeded: false, onStray: strayNotes(log) }),
  );
  const { inspect = null } = options;
  const flags = wordsOf(options);
  const passphrase = await passphraseFor(session, resolve(options.dir));
  session.input.leave();
  const agent = await startOrExplain({
    directory: options.dir,
    host: options.host,
    port: options.port ?? null,
    noAuth: !options.auth,
    inspectPort: inspect === true ? defaultInspectPort : inspect,
    keepLog: options.keepLog ?? false,
    rateLimit: rateLimitOf(options),
    flags,
    isInBackground: logPath === serveLogPath(resolve(options.dir)),
    ownsProcess: true,
    console: consoleOf(session, log),
    env,
    passphrase,
    log,
  });
  await serveUntil(agent, {
    list: () => list(agent, options.dir, { env, log }),
    announce: () => {
      announce(session, agent, log);
      noteStartFlags(resolve(options.dir), flags, env);
      // Node writes the compile cache only at a normal exit, so a killed process would lose it.
      flushCompileCache();
    },
    tellServiceManager: () => tellServiceManager(agent, { settings, notify }),
    stopped,
  });
}

/** Returns the path of the file for the log, which is then rotated; `null` for stderr. */
function logPathOf(env: NodeJS.ProcessEnv): string | null {
  const path = env[logFileVariable];
  // A program that the daemon starts must not write to the same file.
  delete env[logFileVariable];
  return path === undefined || path === '' ? null : resolve(path);
}

/** Returns the flags to reuse for a later start. `--keep-log` applies once and is not repeated. */
function wordsOf({ inspect, ...options }: RunOptions): string[] {
  const words = daemonWords({ ...options, keepLog: false });
  if (inspect === undefined) return words;
  return [...words, '--inspect', ...(inspect === true ? [] : [String(inspect)])];
}

/** Adds the agent to the list of running agents; a failure does not stop the run. */
function list(
  { id, url }: Agent,
  dir: string,
  { env, log }: { env: NodeJS.ProcessEnv; log: Log },
): () => void {
  try {
    return listAgent({ agentId: id, directory: resolve(dir), url }, env);
  } catch (error) {
    const reason = messageOf(error);
    log.info({ reason }, 'commands find this agent in its folder or with --dir alone');
    return () => undefined;
  }
}

/** Prints a few lines on a terminal, or one record per line in a structured log. */
function consoleOf({ output }: Session, log: Log): (line: string) => void {
  if (output.stderr.isTTY === true) return (line) => output.note(line);
  return (line) => log.info({ adapter: 'console' }, line.trim());
}

/** Starts an agent. Throws CliError with every problem of an invalid configuration. */
export async function startOrExplain(options: AgentOptions): Promise<Agent> {
  try {
    return await startAgent(options);
  } catch (error) {
    if (error instanceof ConfigError) throw configFailure(error.problems);
    throw isTaken(error) ? portTaken(error, options) : error;
  }
}

function isTaken(error: unknown): error is Error {
  const cause = error instanceof Error ? error.cause : null;
  return codeOf(cause) === 'EADDRINUSE';
}

/** Names the user's agent that occupies the requested port. */
function portTaken(error: Error, { port, env }: AgentOptions): Error {
  const holder = agentAt(port, env);
  if (holder === null) return error;
  const { agent_id: id, directory, pid } = holder;
  const who = `the agent ${id} in ${directory} (process ${pid})`;
  return new CliError(plainLine(error.message.replace('another program', who)), {
    code: 'cannot_listen',
    cause: error,
  });
}

function agentAt(port: number | null, env: NodeJS.ProcessEnv): ListedAgent | null {
  try {
    return runningAgents(env).find(({ url }) => Number(new URL(url).port) === port) ?? null;
  } catch {
    return null;
  }
}

function announce({ output }: Session, { id, url, inspectorUrl, warnings }: Agent, log: Log): void {
  const isTerminal = output.stderr.isTTY === true;
  if (isTerminal) printWarnings(output, warnings);
  else logWarnings(log, warnings);
  if (inspectorUrl !== null) {
    const [address = ''] = inspectorUrl.split('=');
    if (isTerminal) output.note(`inspector: ${inspectorUrl}\n  ${toOpen()}`);
    // The log must not contain the secret; only users who can read the token file may open the stream.
    else log.info({}, `inspector: ${address}= followed by the content of .service/inspector.token`);
  }
  output.line(`holdpoint: ${id} is ready at ${url}`);
  output.json({ url, pid: process.pid, agent_id: id });
}

function stopSignal(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
}

/** After an unexpected exception, memory may be corrupt but the disk is consistent, so the process exits. */
function exitOnDefect(log: Log): void {
  for (const kind of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(kind, (error: unknown) => {
      log.error({ error }, `holdpoint: ${kind}; the agent stops`);
      process.exit(exitCodes.failed);
    });
  }
}
