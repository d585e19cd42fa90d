import { resolve } from 'node:path';
import { tailServeLog } from '../../actors/workspace/workspace.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { Session } from '../session.ts';

export interface ServeLogsOptions {
  dir: string;
  lines: number;
}

/** `serve logs`: shows the end of `.service/serve.log` as plain text. */
export function serveLogs({ output }: Session, { dir, lines }: ServeLogsOptions): void {
  const directory = resolve(dir);
  const found = tailServeLog(directory, lines);
  if (found.length === 0) {
    throw new CliError(`there is no log of an agent in the background in ${directory}`, {
      code: 'not_found',
      exitCode: exitCodes.notFound,
      hint: 'start one with serve start; an agent of run logs to its terminal',
    });
  }
  for (const line of found) output.line(line);
  output.json({ lines: found });
}
