import type { AgentProcess } from '../../test/helpers/agent-process.ts';
import type { Cluster } from './cluster.ts';

/** A decision that was answered with 200. */
export interface Acknowledged {
  taskId: string;
  decision: 'approve' | 'reject';
  approver: string;
}

const paying = [{ tool: 'pay', args: { amount: 1 } }, { say: 'paid' }];
const echoing = [{ tool: 'echo', args: { n: 1 } }, { say: 'echoed' }];

interface Waiting {
  task_id: string;
  deferral_id: string;
}

/** Callers and approvers of a cluster, each of whom asks a daemon by chance and asks another one when it is gone. */
export class Load {
  /** Ids of the tasks of which somebody was told. */
  readonly accepted = new Set<string>();
  /** Final states as they were answered, by the id of the task. */
  readonly answered = new Map<string, string>();
  readonly decisions: Acknowledged[] = [];
  /** Which task a call belongs to that waited, by its id. */
  readonly calls = new Map<string, string>();
  /** Tasks that have a receiver, which was accepted. */
  readonly followed = new Set<string>();
  readonly #cluster: Cluster;
  readonly #random: () => number;
  #running: Promise<void>[] = [];
  #isOver = false;
  #sent = 0;

  /** @param random gives numbers from 0 up to 1 */
  constructor(cluster: Cluster, random: () => number) {
    this.#cluster = cluster;
    this.#random = random;
  }

  /** Begins to call and to decide. */
  start(callers: number): void {
    this.#running = [
      ...Array.from({ length: callers }, () => this.#repeat((agent) => this.#call(agent))),
      this.#repeat((agent) => this.#decide(agent)),
      this.#repeat((agent) => this.#decide(agent)),
    ];
  }

  /** Ends the load; what waits is decided until nothing does. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  async #repeat(run: (agent: AgentProcess) => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      const { alive } = this.#cluster;
      const agent = alive[Math.floor(this.#random() * alive.length)];
      await (agent === undefined ? Promise.resolve() : run(agent)).catch(() => undefined);
      await new Promise((next) => setTimeout(next, 5));
    }
  }

  async #call(agent: AgentProcess): Promise<void> {
    this.#sent += 1;
    const id = `task-${this.#sent}`;
    const script = this.#random() < 0.6 ? paying : echoing;
    // A caller that is cut off gives up, and a held one is not waited for.
    const signal = AbortSignal.timeout(2_000);
    const answer = await agent.send(id, script, signal);
    if (answer.status !== 200) return;
    const { status } = answer.body as { status: { state: string } };
    this.accepted.add(id);
    this.answered.set(id, status.state);
  }

  /** Several people decide the same call at once, at different daemons. */
  async #decide(agent: AgentProcess): Promise<void> {
    const answer = await agent.get('/deferrals');
    const { deferrals: waiting = [] } = answer.body as { deferrals?: Waiting[] };
    const found = waiting[Math.floor(this.#random() * waiting.length)];
    if (found === undefined) return;
    const { task_id: taskId, deferral_id: callId } = found;
    this.calls.set(callId, taskId);
    this.accepted.add(taskId);
    if (this.#random() < 0.3) await this.#follow(agent, taskId);
    await Promise.all(
      this.#cluster.alive.map(async (at) => {
        const approver = `p${Math.floor(this.#random() * 1e9)}`;
        const decision = this.#random() < 0.7 ? 'approve' : 'reject';
        const { status } = await at
          .decide(taskId, { decision, approver, deferral_id: callId })
          .catch(() => ({ status: 0 }));
        if (status === 200) this.decisions.push({ taskId, decision, approver });
      }),
    );
  }

  /** Has a receiver told of a task. */
  async #follow(agent: AgentProcess, taskId: string): Promise<void> {
    const pushNotificationConfig = { id: 'one', url: this.#cluster.people.receiver };
    const params = { taskId, pushNotificationConfig };
    const answer = await agent.rpc('tasks/pushNotificationConfig/set', params);
    if ((answer.body as { result?: object }).result === undefined) return;
    const task = await agent.get(`/tasks/${taskId}`);
    const { status } = task.body as { status?: { state: string } };
    // Who comes after the end is told nothing.
    if (status?.state === 'deferred') this.followed.add(taskId);
  }
}
