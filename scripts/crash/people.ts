import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** What signs the posts to the desk. */
export const peopleSecret = {
  DESK_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 'desk').toString('base64')}`,
};

/** The message about a call that the desk receives. */
interface DeskEvent {
  type: string;
  data: { task_id: string };
}

/** The ends of a wait. */
const outcomes = new Set(
  ['approved', 'rejected', 'timed_out', 'canceled', 'abandoned'].map((name) => `approval.${name}`),
);

/** The message about a task that a receiver receives, in 0.3.0. */
interface TaskNews {
  id: string;
  status: { state: string };
}

/** The receivers outside: the desk that is asked for releases, and the receivers of tasks. */
export class People {
  /** The messages that the desk received, by task: the types of the events. */
  readonly desk = new Map<string, string[]>();
  /** States that receivers received, by task. */
  readonly receivers = new Map<string, string[]>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.#hear(request.url ?? '', Buffer.concat(chunks).toString());
        response.writeHead(204).end();
      });
    });
  }

  /** Listens on loopback. */
  static async open(): Promise<People> {
    const people = new People();
    people.#server.listen(0, '127.0.0.1');
    await once(people.#server, 'listening');
    return people;
  }

  /** The address of the receivers. */
  get receiver(): string {
    return `http://127.0.0.1:${this.#port}/receiver`;
  }

  /** Has the agent of a folder ask the desk. */
  introduceTo(folder: string): void {
    const url = `http://127.0.0.1:${this.#port}/desk`;
    const settings = { targets: { desk: { url, secret_env: 'DESK_WEBHOOK_SECRET' } } };
    writeFileSync(
      join(folder, 'webhook-config.yaml'),
      JSON.stringify({ adapter: 'webhook', settings }),
    );
  }

  /** Returns which receivers do not know the last state of their task, a sentence each. */
  receiversBehind(followed: ReadonlySet<string>, stateOf: (id: string) => string): string[] {
    const behind = [...followed].filter((id) => this.receivers.get(id)?.at(-1) !== stateOf(id));
    return behind.map((id) => {
      const told = this.receivers.get(id)?.join(', ') ?? 'nothing';
      return `the receiver of task ${id} received ${told}, and it is ${stateOf(id)}`;
    });
  }

  /**
   * Counts calls that the desk was asked for without being told how they ended: a post that was not recorded before
   * its daemon ended, of a call that was decided before the next daemon could post it again.
   */
  get unheard(): number {
    const asked = [...this.desk.values()].filter((types) => types.includes('approval.requested'));
    return asked.filter((types) => types.every((type) => !outcomes.has(type))).length;
  }

  /** Stops receiving. */
  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close').catch(() => undefined);
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #hear(path: string, body: string): void {
    if (path === '/desk') {
      const { type, data } = JSON.parse(body) as DeskEvent;
      this.desk.set(data.task_id, [...(this.desk.get(data.task_id) ?? []), type]);
      return;
    }
    const { id, status } = JSON.parse(body) as TaskNews;
    this.receivers.set(id, [...(this.receivers.get(id) ?? []), status.state]);
  }
}
