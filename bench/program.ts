import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A program of the benchmarks in a process of its own, which has said where it listens. */
export interface Program {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** Starts a file of this folder whose first line is `{"url": …}`, and waits for that line. */
export async function startProgram(file: string): Promise<Program> {
  const program = join(import.meta.dirname, file);
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { url } = JSON.parse(String(line)) as { url: string };
  return {
    url,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
