import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { isAlive } from '../../src/actors/process/is-alive.ts';
import { readServeFile } from '../../src/actors/process/serve-file.ts';
import { AgentClient, type Answer } from './agent-client.ts';
import { AgentFolder, type ServiceSettings } from './agent-folder.ts';
import type { Later } from './dashboard-process.ts';

/** An agent in the folder of a workspace; its process is killed after the test, or `later`. */
export class WorkspaceAgent {
  readonly folder: AgentFolder;
  readonly id: string;

  constructor(
    workspace: string,
    id: string,
    settings: ServiceSettings,
    later: Later = onTestFinished,
  ) {
    mkdirSync(join(workspace, id), { recursive: true });
    this.id = id;
    this.folder = new AgentFolder({ agent_id: id, ...settings }, join(workspace, id));
    later(() => this.kill());
  }

  /** Process id of who serves it; `null` when nobody does. */
  get pid(): number | null {
    const served = readServeFile(join(this.folder.path, '.service'));
    return served !== null && isAlive(served.pid) ? served.pid : null;
  }

  /** A caller of the agent itself. */
  get client(): AgentClient {
    const served = readServeFile(join(this.folder.path, '.service'));
    return new AgentClient(`http://127.0.0.1:${served?.port}`, null);
  }

  /** Has a dashboard start it, and resolves once it runs. Rejects with what it says when it crashes. */
  async start(dashboard: AgentClient): Promise<void> {
    await dashboard.post(`/api/agents/${this.id}/start`, {});
    const { status, error } = await vi.waitUntil(
      async () => {
        const { body } = await dashboard.get(`/api/agents/${this.id}`);
        return ['running', 'errored'].includes(body.status) && body;
      },
      { timeout: 60_000, interval: 50 },
    );
    if (status === 'errored') throw new Error(`${this.id} has crashed: ${error}`);
  }

  /** Has it call `pay`, which is held, and resolves once the dashboard tells of the wait; the answer is still to come. */
  async hold(dashboard: AgentClient, task: string): Promise<{ answered: Promise<Answer> }> {
    const answered = this.client.send(task, [
      { tool: 'pay', args: { amount: 5 } },
      { say: 'It is paid.' },
    ]);
    answered.catch(() => undefined);
    await vi.waitUntil(
      async () => {
        const { body } = await dashboard.get('/api/deferrals');
        return body.deferrals.some(({ task_id }: { task_id: string }) => task_id === task);
      },
      { timeout: 60_000, interval: 25 },
    );
    return { answered };
  }

  /** Ends its process at once, as a power cut would. */
  kill(): void {
    const { pid } = this;
    if (pid !== null) process.kill(pid, 'SIGKILL');
  }
}
