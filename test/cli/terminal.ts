import { stripVTControlCharacters } from 'node:util';
import { type Running, shellCommand, startProcess } from './holdpoint.ts';

/** Runs the command on a terminal of its own. */
export function onTerminal(args: readonly string[], env: Record<string, string> = {}): Running {
  // A terminal of no width would break every line after each character.
  const command = `stty cols 120 rows 40; ${shellCommand(args)}`;
  return startProcess('script', ['-qec', command, '/dev/null'], { env: { TERM: 'xterm', ...env } });
}

/** Returns once a command has printed some text after what was waited for before. */
export async function printed({ child, ended }: Running, wanted: string | RegExp): Promise<void> {
  let seen = '';
  const pattern = typeof wanted === 'string' ? RegExp(RegExp.escape(wanted)) : wanted;
  const found = new Promise<void>((resolve) => {
    const look = (chunk: Buffer): void => {
      seen += chunk.toString();
      // Colours and cursor movements stand between the words of a terminal.
      if (stripVTControlCharacters(seen).search(pattern) === -1) return;
      child.stdout?.off('data', look);
      resolve();
    };
    child.stdout?.on('data', look);
  });
  const over = ended.then(({ code, stdout, stderr }) => {
    throw new Error(`ended with ${code} before it printed ${String(wanted)}: ${stdout}${stderr}`);
  });
  const patience = AbortSignal.timeout(20_000);
  const silent = new Promise<never>((_, reject) => {
    patience.addEventListener('abort', () => {
      const shown = stripVTControlCharacters(seen);
      reject(new Error(`${String(wanted)} was not printed within 20 s, but: ${shown}`));
    });
  });
  await Promise.race([found, over, silent]);
  over.catch(() => undefined);
  silent.catch(() => undefined);
}
