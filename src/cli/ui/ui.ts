import { once } from 'node:events';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import { dashboardToken, randomToken } from '../../actors/process/process.ts';
import { PageBuildError } from '../../agent/start/built-page.ts';
import { lateLog } from '../../dashboard/server/late-log.ts';
import { type Dashboard, serveDashboard } from '../../dashboard/server/serve-dashboard.ts';
import type { TeamOptions } from '../../dashboard/server/team-access.ts';
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
  /** Origin at which people sign in. */
  publicUrl?: string;
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
  const team = await teamOf(session, options);
  // Changes by people who have signed in are logged as information.
  const usual = team === null ? 'warn' : 'info';
  const log = lateLog(async () => {
    const { createLog } = await import('../../actors/telemetry/telemetry.ts');
    return createLog({ level: output.isDebug ? 'debug' : usual, stream: process.stderr });
  });
  const people = team === null ? {} : { team };
  const dashboard = await open(options, { directory, token, env, log, ...people });
  session.input.leave();
  try {
    // A browser does not send the part after `#`, so no proxy logs it.
    const url = token === null ? `${dashboard.url}/` : `${dashboard.url}/#token=${token}`;
    if (token === null) output.warn(openToAll);
    if (!isLoopback(options.host) && team === null) {
      output.warn(`anyone who reaches ${options.host} and has the token can start and stop agents`);
    }
    const at = team === null ? url : team.publicOrigin;
    output.line(plainLine(`the dashboard of ${directory} is at ${at}`));
    const told = team === null ? { url } : { url: `${dashboard.url}/`, public_url: at };
    output.json({ ...told, pid: process.pid, directory });
    // Node writes the compile cache only at a normal exit, so a killed process would lose it.
    flushCompileCache();
    if (options.open && team === null && output.stdout.isTTY === true && !output.isJson)
      openBrowser(url);
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

/** Reads how people sign in at the public address; `null` without one. Throws CliError. */
async function teamOf(
  { env, output }: Session,
  { publicUrl, directory }: UiOptions & { directory: string },
): Promise<TeamOptions | null> {
  if (publicUrl === undefined) return null;
  const [{ dashboardFile, isPageOrigin, readDashboard }, { configFailure }, { printWarnings }] =
    await Promise.all([
      import('../../actors/config/config.ts'),
      import('../config-failure.ts'),
      import('../config-warnings.ts'),
    ]);
  const publicOrigin = publicUrl.replace(/\/$/, '');
  if (!isPageOrigin(publicOrigin)) {
    throw new CliError(
      '--public-url must be an origin such as https://ops.example.com: https, or http on a loopback host, in lower case and without a path',
      { code: 'usage', exitCode: exitCodes.usage },
    );
  }
  const reading = readDashboard(directory, env);
  if (reading === null) {
    throw new CliError(
      plainLine(`people must sign in at ${publicOrigin}, and ${directory} has no ${dashboardFile}`),
      {
        code: 'usage',
        exitCode: exitCodes.usage,
        hint: `write sign_in and operators into ${dashboardFile}, as ${commandLine('docs dashboard#for-a-team')} shows`,
      },
    );
  }
  const { settings, problems, warnings } = reading;
  printWarnings(output, warnings);
  if (settings === null) throw configFailure(problems, warnings);
  return { publicOrigin, settings };
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
