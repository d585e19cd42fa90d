import { join } from 'node:path';
import { request } from 'undici';
import { mayServe, readServeFile } from '../../actors/process/process.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { localUrl } from '../../machines/url-of.ts';
import { unaskedHooks } from '../guard/unasked-hooks.ts';
import type { Finding, Subject } from './check.ts';

/** Timeout in milliseconds of the daemon's readiness check. */
const patience = 3_000;

/** Checks that the agent is running and accepts tasks. */
export async function checkDaemon({ directory, stateFolder }: Subject): Promise<Finding> {
  const served = readServeFile(stateFolder);
  if (served === null) return { status: 'pass', message: 'the agent is not running' };
  if (!mayServe(served.pid, stateFolder)) {
    return {
      status: 'warn',
      message: `serve.json names process ${served.pid}, which is gone: the agent did not stop by itself`,
      fix: `start the agent again, or rm ${shellWord(join(stateFolder, 'serve.json'))}`,
    };
  }
  const url = localUrl(served);
  if (await isReady(url)) {
    const unasked = unaskedHooks(directory);
    if (unasked !== null) {
      return {
        ...{ status: 'warn', message: unasked },
        fix: 'check that the hooks are installed and not switched off, with guard install',
      };
    }
    return { status: 'pass', message: `running at ${url} (process ${served.pid})` };
  }
  return {
    status: 'fail',
    message: `process ${served.pid} runs, but accepts no work at ${url}`,
    fix: 'look at its log, then start it again',
  };
}

async function isReady(url: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(`${url}/readyz`, {
      signal: AbortSignal.timeout(patience),
    });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}
