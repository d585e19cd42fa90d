import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { AgentClient } from './agent-client.ts';
import type { AgentFolder } from './agent-folder.ts';
import { storeEnvironment } from './kept-store.ts';
import { commandFile, compileCache } from './real-command.ts';

/** An agent that runs in a process of its own. */
export class AgentProcess extends AgentClient {
  readonly folder: AgentFolder;
  readonly auditPath: string;
  /** What it has said on standard error so far. */
  complaints = '';
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #ended: Promise<unknown[]>;

  constructor(
    url: string,
    folder: AgentFolder,
    child: ChildProcessByStdio<null, Readable, Readable>,
    ended: Promise<unknown[]>,
  ) {
    super(url, null);
    this.folder = folder;
    this.auditPath = join(folder.path, '.service/audit.ndjson');
    this.#child = child;
    this.#ended = ended;
  }

  /** Sends a signal. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves with the exit code, or the name of the signal that ended it. */
  async ended(): Promise<number | string> {
    const [code, signal] = await this.#ended;
    return (code ?? signal) as number | string;
  }

  /** Ends it at once, as a power cut would. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended();
  }
}

/**
 * Runs an agent's folder with the command line and resolves once it answers; it is killed after the test. Rejects
 * with what it complained of when it ends before that.
 */
export function runAgent(
  folder: AgentFolder,
  flags: readonly string[] = [],
): Promise<AgentProcess> {
  return launchAgentProcess(folder, onTestFinished, flags);
}

/**
 * Like `runAgent`, for an agent that outlives a test: `later` is given what kills it. `options` are for
 * Node, such as `--max-old-space-size=512`, and `own` is added to its environment. `program` is another release.
 */
export async function launchAgentProcess(
  folder: AgentFolder,
  later: (kill: () => Promise<void>) => void,
  flags: readonly string[] = [],
  options: readonly string[] = [],
  own: NodeJS.ProcessEnv = {},
  program = commandFile(),
): Promise<AgentProcess> {
  const args = [...options, program, 'run', '--dir', folder.path, '--port', '0', ...flags];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache(), ...storeEnvironment(), ...own },
  });
  const ended = once(child, 'exit');
  later(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /ready at (http:\S+)/.exec(line)?.[1];
    if (url !== undefined) {
      child.stdout.resume();
      const agent = new AgentProcess(url, folder, child, ended);
      agent.complaints = complaints;
      child.stderr.on('data', (text: string) => (agent.complaints += text));
      return agent;
    }
  }
  const [code] = await ended;
  throw new Error(`the agent did not start (${code}): ${complaints}`);
}
