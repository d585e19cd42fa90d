import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { TriedClient } from './clients.ts';

/** What a client said to one command. */
export interface Said {
  text?: string;
  error?: string;
}

/** A client that runs in a process of its own. */
export class ClientProcess {
  readonly #process: ChildProcess;
  readonly #lines: Interface;

  private constructor(running: ChildProcess, lines: Interface) {
    this.#process = running;
    this.#lines = lines;
  }

  /** Starts a client and returns once it is connected. Throws when it cannot connect. */
  static async connect(client: TriedClient, modules: string, url: string): Promise<ClientProcess> {
    const script = join(import.meta.dirname, 'client-process.mjs');
    const words = [script, client.kind, client.package, modules, url];
    const running = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'ignore'] });
    const lines = createInterface({ input: running.stdout });
    const started = new ClientProcess(running, lines);
    const { error } = await started.#next();
    if (error === undefined) return started;
    throw new Error(error);
  }

  /** Lists the tools. */
  list(): Promise<Said> {
    return this.#ask({ list: true });
  }

  /** Calls a tool. */
  call(tool: string, args: object): Promise<Said> {
    return this.#ask({ tool, args });
  }

  /** Ends the process. */
  end(): void {
    this.#process.kill();
  }

  #ask(command: object): Promise<Said> {
    const answer = this.#next();
    this.#process.stdin?.write(`${JSON.stringify(command)}\n`);
    return answer;
  }

  async #next(): Promise<Said> {
    const [line] = (await Promise.race([
      once(this.#lines, 'line'),
      once(this.#lines, 'close').then(() => ['{"error":"the client ended"}']),
    ])) as [string];
    return JSON.parse(line) as Said;
  }
}
