import { once } from 'node:events';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import { dashboardToken, randomToken } from '../../actors/process/process.ts';
import { PageBuildError } from '../../dashboard/server/built-page.ts';
import { lateLog } from '../../dashboard/server/late-log.ts';
import { type Dashboard, serveDashboard } from '../../dashboard/server/serve-dashboard.ts';
import { ListenError } from '../../http/listen.ts';
import { isLoopback } from '../../machines/loopback.ts';
import { messageOf } from '../../machines/message-of.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { DemoWorkspace } from '../demo/demo-workspace.ts';
import { plainLine } from '../plain-text.ts';
import { ownCommand } from '../serve/own-command.ts';
import type { Session } from '../session.ts';
import { openBrowser } from './open-browser.ts';

export interface UiOptions {
  dir: string;
  host: string;
  port: number;
  open: boolean;
  /** False gives access to every client that reaches the port. */
  token: boolean;
  demo?: boolean;
}

/**
 * `ui`: serves a workspace's dashboard until a signal ends it. Its agents keep running (docs/contract/dashboard.md).
 */
export async function ui(session: Session, options: UiOptions): Promise<void> {
  const { interruption } = session;
  const named = resolve(options.dir);
  if (!existsSync(named) || !statSync(named).isDirectory()) throw noFolder(named);
  if (!isLoopback(options.host) && !options.token) throw tokenNeeded(options.host);
  const stopped = interruption.listen({ isReaderNeeded: false });
  const demo = options.demo === true ? await makeDemo(session) : null;
  try {
    await serveUntil(stopped, session, { ...options, directory: demo?.directory ?? named }, demo);
  } finally {
    await demo?.remove();
  }
}

async function makeDemo({ env }: Session): Promise<DemoWorkspace> {
  const { makeDemoWorkspace } = await import('../demo/demo-workspace.ts');
  return makeDemoWorkspace(env);
}

async function serveUntil(
  stopped: AbortSignal,
  session: Session,
  options: UiOptions & { directory: string },
  demo: DemoWorkspace | null,
): Promise<void> {
  const { output, env } = session;
  const { directory } = options;
  const made = demo === null ? () => tokenOf(directory, env) : randomToken;
  const token = options.token ? made() : null;
  const log = lateLog(async () => {
    const { createLog } = await import('../../actors/telemetry/telemetry.ts');
    return createLog({ level: output.isDebug ? 'debug' : 'warn', stream: process.stderr });
  });
  const dashboard = await open(options, { directory, token, env, log });
  session.input.leave();
  try {
    // A browser does not send the part after `#`, so no proxy logs it.
    const url = token === null ? `${dashboard.url}/` : `${dashboard.url}/#token=${token}`;
    if (token === null) output.warn(openToAll);
    if (!isLoopback(options.host)) {
      output.warn(`anyone who reaches ${options.host} and has the token can start and stop agents`);
    }
    output.line(plainLine(`the dashboard of ${directory} is at ${url}`));
    output.json({ url, pid: process.pid, directory });
    // Node writes the compile cache only at a normal exit, so a killed process would lose it.
    flushCompileCache();
    if (options.open && output.stdout.isTTY === true && !output.isJson) openBrowser(url);
    demo?.play(dashboard.workspace).catch((error: unknown) => {
      const reason = messageOf(error);
      output.warn(plainLine(`the story of the demo broke off: ${reason}`));
    });
    if (!stopped.aborted) await once(stopped, 'abort');
  } finally {
    await demo?.stop();
    await dashboard.close();
  }
}

async function open(
  { host, port }: UiOptions,
  given: Omit<Parameters<typeof serveDashboard>[0], 'host' | 'port' | 'command'>,
): Promise<Dashboard> {
  try {
    return await serveDashboard({ ...given, host, port, command: ownCommand(given.env) });
  } catch (error) {
    if (error instanceof PageBuildError) {
      throw new CliError(error.message, { code: error.code, hint: error.hint, cause: error });
    }
    if (!(error instanceof ListenError)) throw error;
    const message = error.message.replace(/; [^;]*$/, '');
    throw new CliError(message, {
      code: error.code,
      hint: `choose another port with: ${commandLine(`ui --port ${port + 1}`)}`,
      cause: error,
    });
  }
}

const openToAll =
  'without a token every program and every user of this machine can approve calls and change agents here; leave out --no-token';

/** Throws CliError if the token cannot be stored in the folder. */
function tokenOf(directory: string, env: NodeJS.ProcessEnv): string {
  try {
    return dashboardToken(realpathSync(directory), env);
  } catch (error) {
    const reason = messageOf(error);
    throw new CliError(plainLine(`the token of the dashboard cannot be kept: ${reason}`), {
      code: 'failed',
      hint: `make ${plainLine(directory)} writable, or serve it with --no-token`,
      cause: error,
    });
  }
}

function noFolder(directory: string): CliError {
  return new CliError(`there is no folder ${directory}`, {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint: 'name the folder of your agents with --dir',
  });
}

function tokenNeeded(host: string): CliError {
  return new CliError(`on ${host} others reach the dashboard, so it needs its token`, {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: 'leave out --no-token, or leave out --host',
  });
}
