import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import { LaunchError, launchAgent, serveLogPath } from '../../actors/workspace/workspace.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { localUrl } from '../../machines/url-of.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { type DaemonFlags, daemonWords } from '../daemon-flags.ts';
import { plainLine, plainText } from '../plain-text.ts';
import { showProgress } from '../progress.ts';
import { passphraseToStart } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { ownCommand } from './own-command.ts';

/**
 * `serve start`: starts a folder's agent in the background and returns once the agent accepts requests
 * (docs/contract/serve.md).
 */
export async function serveStart(session: Session, options: DaemonFlags): Promise<void> {
  const { output, env } = session;
  const directory = resolve(options.dir);
  if (!existsSync(join(directory, 'service.yaml'))) throw noAgent(directory);
  const passphrase = await passphraseToStart(session, directory);
  const stop = showProgress(output, 'the agent starts');
  try {
    const served = await launchAgent({
      directory,
      passphrase,
      command: ownCommand(env),
      flags: daemonWords(options),
    });
    stop();
    const url = localUrl(served);
    output.line(plainLine(`the agent is ready at ${url} (process ${served.pid})`));
    output.note(`stop it with: ${commandLine(`serve stop --dir ${shellWord(directory)}`)}`);
    output.json({
      status: 'running',
      url,
      pid: served.pid,
      directory,
      log: serveLogPath(directory),
    });
  } catch (error) {
    stop();
    throw error instanceof LaunchError ? failure(error, directory) : error;
  }
}

/** The last line of the message is the error; the lines before it give the locations. */
function failure({ code, message }: LaunchError, directory: string): CliError {
  const lines = plainText(message).split('\n');
  const folder = shellWord(directory);
  const hint =
    code === 'already_running'
      ? `look at it with: ${commandLine(`serve status --dir ${folder}`)}`
      : `see all of it with: ${commandLine(`serve logs --dir ${folder}`)}`;
  return new CliError((lines.at(-1) ?? message).replace(/^error: /, ''), {
    code,
    hint,
    lines: lines.slice(0, -1),
  });
}

function noAgent(directory: string): CliError {
  return new CliError(`there is no service.yaml in ${directory}`, {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint: `make an agent with: ${commandLine('init')}, or name its folder with --dir`,
  });
}
