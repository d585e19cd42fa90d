import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';

const repository = join(import.meta.dirname, '../..');

const service = `agent_id: matrix
server: {mcp: true, rate_limit: {write_rps: 1000, write_burst: 1000, read_rps: 1000, read_burst: 1000}}
egress: {sandbox: env}
security:
  defer:
    enabled: true
    on_restart: resume
    tools:
      pay: {to: "channel:console:*", timeout: 10m}
`;

const tools = ['Pay', 'Look'].map(
  (name) => `## Tool: ${name.toLowerCase()}\n\n${name}s.\n\n**Input:** who (string)\n`,
);

const skill = `---\nname: till\ndescription: A till.\n---\n${tools.join('\n')}`;

/** An agent with the tools `look` and `pay`, the second of which is held; it can be started again in its folder. */
export class TriedAgent {
  readonly #folder: string;
  readonly #port: number;
  #process: ChildProcess | null = null;

  constructor(folder: string, port: number, more = '') {
    this.#folder = folder;
    this.#port = port;
    mkdirSync(join(folder, 'scripts'), { recursive: true });
    writeFileSync(join(folder, 'service.yaml'), `${service}${more}`);
    writeFileSync(join(folder, 'SKILL.md'), skill);
    for (const name of ['pay', 'look']) {
      const script = `#!/bin/sh\ncat > /dev/null\necho ${name} was done\n`;
      writeFileSync(join(folder, 'scripts', `${name}.sh`), script, { mode: 0o755 });
    }
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Starts the daemon and returns once it answers. */
  async start(): Promise<void> {
    const words = ['run', '--dir', this.#folder, '--port', String(this.#port), '--no-auth'];
    const log = openSync(join(this.#folder, 'daemon.log'), 'a');
    const command = join(repository, 'bin/holdpoint');
    this.#process = spawn(command, words, { stdio: ['ignore', log, log] });
    closeSync(log);
    for (let tries = 0; tries < 150; tries += 1) {
      const answer = await fetch(`${this.url}/readyz`).catch(() => null);
      if (answer?.ok === true) return;
      await rest(200);
    }
    throw new Error(
      `the agent does not answer at ${this.url}; look at daemon.log in ${this.#folder}`,
    );
  }

  /** Stops the daemon. */
  async stop(): Promise<void> {
    const running = this.#process;
    if (running === null) return;
    const exited = once(running, 'exit');
    running.kill('SIGTERM');
    await exited;
    this.#process = null;
  }

  /** Approves every call that waits. Returns how many were approved. */
  async approveAll(): Promise<number> {
    const { deferrals } = (await (await fetch(`${this.url}/deferrals`)).json()) as {
      deferrals: { task_id: string }[];
    };
    for (const { task_id: id } of deferrals) {
      await fetch(`${this.url}/tasks/${id}/decisions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ decision: 'approve', approver: 'ann@example.com' }),
      });
    }
    return deferrals.length;
  }
}
