import { randomToken } from '../../actors/process/process.ts';
import { createLog } from '../../actors/telemetry/telemetry.ts';
import { CliError } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import { ownCommand } from '../serve/own-command.ts';
import type { Session } from '../session.ts';
import { isPageBuilt } from '../ui/built-page.ts';
import { type Dashboard, serveDashboard } from '../ui/serve-dashboard.ts';

const usualPort = 4200;

/** The dashboard beside a chat in the terminal. */
export interface TryPage {
  /** The line to begin with: where the page is, or that it is being built. */
  firstLine: Promise<string>;
  /** Where the page is, once it has been built; `null` when the first line said it all. */
  laterLine: Promise<string> | null;
  /** Stops serving, and what builds the page. */
  close(): Promise<void>;
}

/**
 * Serves the dashboard of the agent that is being tried. Nobody asked for it, so it wants a token, which stands in its
 * address alone: no tool of the agent and no other user of this machine gets in. A page that cannot be served is told
 * of by its line.
 */
export function openTryPage({ output, env }: Session, directory: string): TryPage {
  const leaving = new AbortController();
  const token = randomToken();
  const isBuilt = isPageBuilt();
  const opening = serveDashboard({
    ...{ directory, host: '127.0.0.1', port: usualPort, isFixed: false, token, env },
    command: ownCommand(env),
    log: createLog({ level: output.isDebug ? 'debug' : 'silent', stream: process.stderr }),
    signal: leaving.signal,
  });
  const line = opening.then((page) => placeOf(page, token), excuse);
  return {
    firstLine: isBuilt
      ? line
      : Promise.resolve('Its page is being built; where it is stands here soon.'),
    laterLine: isBuilt ? null : line,
    async close() {
      leaving.abort();
      const page = await opening.catch(() => null);
      await page?.close();
    },
  };
}

function placeOf({ url, port }: Dashboard, token: string): string {
  const note = port === usualPort ? '' : ` (port ${usualPort} is taken)`;
  return `See it and decide on a page: ${url}/#token=${token}${note}`;
}

function excuse(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof CliError && error.hint !== null ? `; ${error.hint}` : '';
  return plainLine(`There is no page, as ${message}${hint}`);
}
