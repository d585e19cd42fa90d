import type { AgentProcess } from '../../test/helpers/agent-process.ts';
import type { AuditLine } from '../../test/helpers/test-agent.ts';
import { Crowd } from './crowd.ts';
import { brokenTasks } from './invariants.ts';

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

/** Callers and approvers of a cluster of agents. */
export class Load extends Crowd {
  /** Ids of the tasks that a client has received. */
  readonly accepted = new Set<string>();
  /** Final states as they were answered, by the id of the task. */
  readonly answered = new Map<string, string>();
  readonly decisions: Acknowledged[] = [];
  /** Which task a call belongs to that waited, by its id. */
  readonly calls = new Map<string, string>();
  /** Tasks that have a receiver, which was accepted. */
  readonly followed = new Set<string>();
  #sent = 0;

  start(callers: number): void {
    this.repeat([
      ...Array.from({ length: callers }, () => (agent: AgentProcess) => this.#call(agent)),
      (agent) => this.#decide(agent),
      (agent) => this.#decide(agent),
    ]);
  }

  broken(lines: readonly AuditLine[]): Promise<string[]> {
    return brokenTasks(this.cluster, this, lines);
  }

  async #call(agent: AgentProcess): Promise<void> {
    this.#sent += 1;
    const id = `task-${this.#sent}`;
    const script = this.#script();
    // A caller that is cut off gives up, and a held one is not waited for.
    const signal = AbortSignal.timeout(2_000);
    const answer = await agent.send(id, script, signal);
    if (answer.status !== 200) return;
    const { status } = answer.body as { status: { state: string } };
    this.accepted.add(id);
    this.answered.set(id, status.state);
  }

  #script(): object[] {
    const choice = this.random();
    if (choice < 0.5) return paying;
    if (choice < 0.7) return echoing;
    return [{ tool: 'grant', args: this.nextRefund() }, { say: 'granted: {result}' }];
  }

  /** Several people decide the same call at once, at different daemons. */
  async #decide(agent: AgentProcess): Promise<void> {
    const answer = await agent.get('/deferrals');
    const { deferrals: waiting = [] } = answer.body as { deferrals?: Waiting[] };
    const found = this.pick(waiting);
    if (found === undefined) return;
    const { task_id: taskId, deferral_id: callId } = found;
    this.calls.set(callId, taskId);
    this.accepted.add(taskId);
    if (this.random() < 0.3) await this.#follow(agent, taskId);
    await Promise.all(
      this.cluster.alive.map(async (at) => {
        const approver = `p${Math.floor(this.random() * 1e9)}`;
        const decision = this.random() < 0.7 ? 'approve' : 'reject';
        const { status } = await at
          .decide(taskId, { decision, approver, deferral_id: callId })
          .catch(() => ({ status: 0 }));
        if (status === 200) this.decisions.push({ taskId, decision, approver });
      }),
    );
  }

  /** Registers a receiver for a task. */
  async #follow(agent: AgentProcess, taskId: string): Promise<void> {
    const pushNotificationConfig = { id: 'one', url: this.cluster.people.receiver };
    const params = { taskId, pushNotificationConfig };
    const answer = await agent.rpc('tasks/pushNotificationConfig/set', params);
    if ((answer.body as { result?: object }).result === undefined) return;
    const task = await agent.get(`/tasks/${taskId}`);
    const { status } = task.body as { status?: { state: string } };
    // A receiver that registers after the end receives nothing.
    if (status?.state === 'deferred') this.followed.add(taskId);
  }
}
