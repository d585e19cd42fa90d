import { parseArgs } from 'node:util';
import { systemClock } from '../../actors/system-clock.ts';
import { dialects } from '../../http/hooks/dialects.ts';
import { exitBlocked, type HookAnswer } from '../../http/hooks/hook-event.ts';
import { parseDuration } from '../../machines/duration.ts';
import { messageOf } from '../../machines/message-of.ts';
import { runHook } from './run-hook.ts';

/** Default of `--wait`: shorter than the 600 s after which Claude Code and Codex give up on a hook. */
export const usualWait = '9m';

/** Maximum length of an event, in characters. */
const longestEvent = 4 * 1024 * 1024;

/**
 * `hook DIALECT`: decides on the event of a coding agent on stdin (docs/guard.md). Loads neither the daemon nor the other
 * commands, because it starts for every call. Never rejects: any failure blocks the call.
 */
export async function hook(
  argv: readonly string[],
  { stdin, env }: { stdin: AsyncIterable<string | Buffer>; env: NodeJS.ProcessEnv },
): Promise<HookAnswer> {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        dir: { type: 'string' },
        url: { type: 'string' },
        'token-file': { type: 'string' },
        wait: { type: 'string', default: usualWait },
      },
    });
    const [name = '', ...others] = positionals;
    const dialect = dialects.get(name);
    if (dialect === undefined || others.length > 0) {
      throw new Error(`name one coding agent: ${[...dialects.keys()].join(', ')}`);
    }
    const { dir, url, 'token-file': tokenFile } = values;
    const options = { name, dialect, dir, url, tokenFile, wait: parseDuration(values.wait) };
    return await runHook(await textOf(stdin), options, { env, clock: systemClock() });
  } catch (error) {
    return exitBlocked(`Holdpoint blocked the call: ${messageOf(error)}`);
  }
}

async function textOf(stdin: AsyncIterable<string | Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > longestEvent) throw new Error('the event on stdin is longer than 4 MiB');
    chunks.push(bytes);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
}
