import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  followServeLog,
  serveLogPath,
  sightAgent,
  tailServeLog,
} from '../../actors/workspace/workspace.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { Session } from '../session.ts';

export interface ServeLogsOptions {
  dir: string;
  lines: number;
  follow?: boolean;
}

/** Milliseconds between two checks that the agent is running. */
const between = 1_000;

/** `serve logs`: prints the end of `.service/serve.log` as plain text, and with --follow each new line. */
export async function serveLogs(session: Session, options: ServeLogsOptions): Promise<void> {
  const { output } = session;
  const directory = resolve(options.dir);
  if (options.follow === true) return follow(session, directory, options.lines);
  const found = tailServeLog(directory, options.lines);
  if (found.length === 0) throw noLog(directory);
  for (const line of found) output.line(line);
  output.json({ lines: found });
}

/** Prints the log until the command is interrupted. Reports when the agent stops and waits for its return. */
async function follow(
  { output, interruption }: Session,
  directory: string,
  count: number,
): Promise<void> {
  const isThere = [join(directory, 'service.yaml'), serveLogPath(directory)].some(existsSync);
  if (!isThere) throw noLog(directory);
  const signal = interruption.listen();
  const telling = tellOfStops({ output }, directory, signal);
  for await (const lines of followServeLog(directory, { count, signal })) {
    for (const line of lines) {
      output.line(line);
      output.json({ line });
    }
  }
  await telling;
  throw signal.reason;
}

/** Reports on stderr when the agent stops and when it runs again. */
async function tellOfStops(
  { output }: Pick<Session, 'output'>,
  directory: string,
  signal: AbortSignal,
): Promise<void> {
  let known: number | null | undefined;
  while (!signal.aborted) {
    const pid = await pidIn(directory).catch(() => known);
    if (pid !== undefined && pid !== known && !(known === undefined && pid !== null)) {
      output.note(
        pid === null
          ? 'the agent does not run; its log is followed on, and Ctrl-C ends this'
          : `the agent runs (process ${pid})`,
      );
      output.json(pid === null ? { status: 'stopped' } : { status: 'running', pid });
    }
    known = pid;
    await pause(between, undefined, { signal }).catch(() => undefined);
  }
}

async function pidIn(directory: string): Promise<number | null> {
  const sighting = await sightAgent(directory);
  return sighting.kind === 'served' ? sighting.served.pid : null;
}

function noLog(directory: string): CliError {
  return new CliError(`there is no log of an agent in the background in ${directory}`, {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint: 'start one with serve start; an agent of run logs to its terminal',
  });
}
