// A program that holds one call at a gate and runs it: it appends the key and the command to a file. Its exit code tells how
// the call ended.
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createGate, HoldDenied, HoldReleased } from '../../packages/client/client.ts';

const [url = '', key = '', command = '', trace = ''] = process.argv.slice(2);

const run = createGate({ url, timeout: 60_000 }).guard(
  'Bash',
  async (args: { command: string }) => {
    appendFileSync(trace, `${key} ${args.command}\n`);
    await pause(20);
    return 'done';
  },
);

try {
  await run({ command }, { key });
} catch (error) {
  if (error instanceof HoldReleased) process.exit(4);
  if (error instanceof HoldDenied) process.exit(3);
  console.error(error);
  process.exit(5);
}
