import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '..');

/** Where `bin/holdpoint` keeps compiled code. */
const cache = join(root, 'node_modules/.cache/holdpoint');

const serviceYaml = (to: string, server: string) => `agent_id: bench
model: {provider: scripted, name: bench}
builtin_tools: [datetime_now]
server:
  ${server}
  rate_limit: {read_rps: 1000000, read_burst: 1000000, write_rps: 1000000, write_burst: 1000000}
security:
  defer:
    enabled: true
    on_restart: resume
    tools:
      datetime_now: {to: "${to}", timeout: 24h}
`;

/** A daemon in a process of its own, in a folder of its own. */
export interface Daemon {
  url: string;
  pid: number;
  /** Milliseconds from the start of the process to the line that says it is ready. */
  readyAfter: number;
  /** Collects garbage and returns the bytes of heap and of resident memory in use. */
  memory(): Promise<{ heap: number; resident: number }>;
  stop(): Promise<void>;
}

/** Makes a folder with an agent whose one tool is held by `to`; `more` is added to its configuration, `server` to that key of it. */
export function makeAgentFolder(
  more = '',
  to = 'channel:dashboard:*',
  server = '',
): { directory: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
  writeFileSync(join(directory, 'service.yaml'), serviceYaml(to, server) + more);
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** Starts the daemon of a folder and waits until it is ready. */
export async function startDaemon(
  directory: string,
  env: Record<string, string> = {},
): Promise<Daemon> {
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--expose-gc',
      '--import',
      join(import.meta.dirname, 'collect-on-signal.ts'),
      join(root, 'src/cli.ts'),
      ...['run', '--dir', directory, '--port', '0', '--json'],
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env, NODE_COMPILE_CACHE: cache },
    },
  );
  const lines = createInterface({ input: child.stdout });
  const [line] = await once(lines, 'line');
  const readyAfter = performance.now() - began;
  const { url } = JSON.parse(String(line)) as { url: string };
  return {
    url,
    pid: child.pid ?? 0,
    readyAfter,
    memory: () => memoryOf(child, url),
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function memoryOf(
  child: ChildProcess,
  url: string,
): Promise<{ heap: number; resident: number }> {
  child.kill('SIGUSR2');
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  return {
    heap: value('nodejs_heap_size_used_bytes'),
    resident: value('process_resident_memory_bytes'),
  };
}
