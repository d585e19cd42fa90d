import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { get } from './connections.ts';

const root = join(import.meta.dirname, '..');

/** Where `bin/holdpoint` keeps compiled code. */
const cache = join(root, 'node_modules/.cache/holdpoint');

/** What differs from one measured agent to another. */
export interface AgentSettings {
  /** Added to the configuration. */
  more?: string;
  /** Who decides on the one tool. */
  to?: string;
  /** Lines of the key `server`. */
  server?: string;
  /** The model, in the braces of YAML. */
  model?: string;
  /** `bench` when absent. */
  id?: string;
}

const scripted = '{provider: scripted, name: bench}';

const serviceYaml = ({
  more = '',
  to = 'channel:dashboard:*',
  server = '',
  model = scripted,
  id = 'bench',
}: AgentSettings) => `agent_id: ${id}
model: ${model}
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
${more}`;

/** A daemon in a process of its own, in a folder of its own. */
export interface Daemon {
  url: string;
  pid: number;
  /** Milliseconds from the start of the process to the line that says it is ready. */
  readyAfter: number;
  /** Collects garbage and returns the bytes of heap and of resident memory in use. */
  memory(): Promise<{ heap: number; resident: number }>;
  /** Returns the milliseconds of CPU that it has used. */
  cpu(): Promise<number>;
  stop(): Promise<void>;
}

/** Makes a folder with an agent whose one tool is held. */
export function makeAgentFolder(settings: AgentSettings = {}): {
  directory: string;
  remove(): void;
} {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
  writeAgent(directory, settings);
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** Writes the configuration of an agent whose one tool is held. */
export function writeAgent(directory: string, settings: AgentSettings = {}): void {
  writeFileSync(join(directory, 'service.yaml'), serviceYaml(settings));
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
    cpu: async () => 1_000 * (await readMetrics(url))('process_cpu_seconds_total'),
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
  const value = await readMetrics(url);
  return {
    heap: value('nodejs_heap_size_used_bytes'),
    resident: value('process_resident_memory_bytes'),
  };
}

/** Reads the metrics of a daemon once, and returns what gives the value of each by its name. */
export async function readMetrics(url: string): Promise<(name: string) => number> {
  const { status, text } = await get(`${url}/metrics`);
  if (status !== 200) throw new Error(`/metrics answered ${status}: ${text}`);
  return (name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

/** Resolves once a task waits for a decision. */
export async function untilDeferred({ url }: Pick<Daemon, 'url'>, id: string): Promise<void> {
  for (;;) {
    const { text } = await get(`${url}/tasks/${id}`);
    if (text.includes('"state":"deferred"')) return;
  }
}
