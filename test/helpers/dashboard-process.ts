import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { AgentClient } from './agent-client.ts';
import { commandFile, compileCache } from './real-command.ts';

/** Registers a cleanup that runs when the owner of a resource is done with it. */
export type Later = (undo: () => void | Promise<void>) => void;

/** The command `holdpoint ui --no-token` at work, so that a browser gets to each page by its address alone. */
export class DashboardProcess extends AgentClient {
  readonly workspace: string;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  /** What it has printed so far. */
  #printed = '';

  constructor(
    url: string,
    workspace: string,
    child: ChildProcessByStdio<null, Readable, Readable>,
  ) {
    super(url, null);
    this.workspace = workspace;
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text: Buffer) => (this.#printed += text.toString()));
    }
  }

  get printed(): string {
    return this.#printed;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Ends it at once, as a power cut would. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

/** Serves the dashboard of a workspace with the command line until it is killed, and resolves once it answers. */
export async function startDashboard(
  workspace: string,
  {
    port = 0,
    env = {},
    later = onTestFinished,
  }: { port?: number; env?: Record<string, string>; later?: Later } = {},
): Promise<DashboardProcess> {
  const words = [
    'ui',
    '--dir',
    workspace,
    '--port',
    String(port),
    '--no-open',
    '--no-token',
    '--json',
  ];
  const child = spawn(process.execPath, [commandFile(), ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache(), ...env },
  });
  const complaints: string[] = [];
  child.stderr.on('data', (text: Buffer) => complaints.push(text.toString()));
  for await (const line of createInterface({ input: child.stdout })) {
    // The browser of the tests knows no names.
    const url = `http://127.0.0.1:${new URL((JSON.parse(line) as { url: string }).url).port}`;
    const dashboard = new DashboardProcess(url, workspace, child);
    later(() => dashboard.kill());
    child.stdout.resume();
    return dashboard;
  }
  throw new Error(`the dashboard did not start: ${complaints.join('')}`);
}
