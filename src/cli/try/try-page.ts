import { randomToken } from '../../actors/process/process.ts';
import { createLog } from '../../actors/telemetry/telemetry.ts';
import { isPageBuilt, PageBuildError } from '../../agent/start/built-page.ts';
import { type Dashboard, serveDashboard } from '../../dashboard/server/serve-dashboard.ts';
import { plainLine } from '../plain-text.ts';
import { ownCommand } from '../serve/own-command.ts';
import type { Session } from '../session.ts';

const usualPort = 4200;

/** The dashboard next to a chat in the terminal. */
export interface TryPage {
  /** The first line: the page's URL, or that the page is being built. */
  firstLine: Promise<string>;
  /** The page's URL once the page is built; `null` if the first line already contained it. */
  laterLine: Promise<string> | null;
  /** Stops the server and a running build of the page. */
  close(): Promise<void>;
}

/**
 * Serves the dashboard of the demo agent. The page opens without a request by the user, so it requires a token that is
 * only in its URL: neither the agent's tools nor other users of this machine have access. If the page cannot be served,
 * its line reports the error.
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
      : Promise.resolve('Building the dashboard; its address appears here soon.'),
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
  const hint = error instanceof PageBuildError ? `; ${error.hint}` : '';
  return plainLine(`There is no page, as ${message}${hint}`);
}
