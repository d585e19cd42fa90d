import { isFinal } from '../../src/machines/domain/task.ts';
import { decision, playing, type Step } from '../helpers/system-story.ts';
import { type Cast, refunds, type Stage } from './cast.ts';
import { canary, type SimulatedAgent } from './simulated-agent.ts';

const steps: readonly Step[] = [
  { tool: 'pay', args: { to: 'ann' } },
  { tool: 'pay', args: { to: 'bob' } },
  { tool: 'pay', args: { to: 'cid' } },
  { tool: 'look' },
  ...refunds.map((args) => ({ tool: 'refund', args })),
  { tool: 'wipe' },
  { tool: 'http_request', args: { url: 'https://api.example.com/' } },
  { tool: 'http_request', args: { url: 'https://evil.example.net/' } },
  { tool: 'http_request', args: { url: 'https://rebound.example.com/latest/meta-data' } },
];

/** Arguments that approvers put in place of those of a call; the last ones fall under another rule. */
const edits = [{ to: 'ann' }, { to: 'cid', amount: 5 }, { to: 'cid', amount: 500 }];

/** Callers of an agent, approvers, and receivers of its tasks. */
export class SimulatedCallers implements Cast {
  readonly acts = { send: 8, decide: 12, cancel: 1, leave: 1, receiver: 1 };
  readonly #stage: Stage;
  readonly #ids: string[] = [];
  #people = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  act(act: string, agent: SimulatedAgent): Promise<void> | void {
    if (act === 'send') return this.#send(agent);
    if (act === 'decide') return this.#decide(agent);
    if (act === 'cancel') return this.#on(agent, (id) => agent.system.cancel(id, 'called off'));
    if (act === 'leave') return this.#on(agent, (id) => agent.system.callerLeft(id));
    return this.#on(agent, (id) => agent.push.set(receiverOf(id)));
  }

  lookAgain(): void {
    // A reported task is searched in the end.
  }

  async settle(agent: SimulatedAgent): Promise<boolean> {
    const { tasks } = await agent.system.reads.list({ limit: 500 });
    const left = tasks.filter(({ state }) => !isFinal(state));
    for (const { id } of left.filter(({ state }) => state === 'deferred')) {
      const attempt = decision('approve', Date.now(), { approver: 'last' });
      await this.#stage.world.until(agent.system.decide(id, attempt)).catch(() => undefined);
    }
    return left.length === 0;
  }

  async compare(agent: SimulatedAgent): Promise<string[]> {
    const broken: string[] = [];
    const { accepted, ended } = this.#stage.told;
    for (const id of accepted) {
      const task = await agent.system.reads.find(id);
      if (task === undefined) broken.push(`task ${id} was told of and is gone`);
    }
    for (const [id, state] of ended) {
      const task = await agent.system.reads.find(id);
      const isOnce = task !== undefined && this.#ids.filter((other) => other === id).length === 1;
      if (isOnce && task.state !== state) {
        broken.push(`task ${id} was told as ${state} and is ${task.state}`);
      }
    }
    return broken;
  }

  #send(agent: SimulatedAgent): void {
    const { world, told, follow } = this.#stage;
    const { chance } = world;
    const asked = Array.from({ length: 1 + chance.below(3) }, () => chance.pick(steps));
    // Now and then a task that has ended runs again.
    const again = this.#ids.length > 0 && chance.next() < 0.1 ? { id: chance.pick(this.#ids) } : {};
    const request = playing([...asked, { say: 'done: {result}' }], again);
    follow(async (isTold) => {
      const { decision: verdict } = await agent.admission.check();
      if (verdict === 'deny') return;
      const id = await agent.system.open(request);
      this.#ids.push(id);
      const task = await agent.system.watchers.settled(id, new AbortController().signal);
      if (!isTold()) return;
      told.accepted.add(id);
      if (isFinal(task.state) && !('id' in again)) told.ended.set(id, task.state);
    });
  }

  /** One to three people decide at once, mostly what waits; some of them change the arguments. */
  async #decide(agent: SimulatedAgent): Promise<void> {
    const { world, told, follow } = this.#stage;
    const { chance } = world;
    const waiting = await agent.system.reads.list({ state: 'deferred', limit: 20 });
    const ids = chance.next() < 0.8 ? waiting.tasks.map(({ id }) => id) : this.#ids;
    if (ids.length === 0) return;
    const id = chance.pick(ids);
    for (let people = 1 + chance.below(3); people > 0; people -= 1) {
      this.#people += 1;
      const approver = `person ${this.#people}`;
      const verb = chance.pick(['approve', 'approve', 'reject'] as const);
      const args = verb === 'approve' && chance.next() < 0.3 ? { args: chance.pick(edits) } : {};
      follow(async (isTold) => {
        const attempt = decision(verb, Date.now(), { approver, ...args });
        const answer = await agent.system.decide(id, attempt);
        if (!isTold() || answer.kind !== 'resolved') return;
        told.accepted.add(id);
        told.decided(answer.deferralId, { taskId: id, decision: verb, approver });
      });
    }
  }

  #on(agent: SimulatedAgent, run: (id: string) => Promise<unknown>): void {
    if (this.#ids.length === 0) return;
    const id = this.#stage.world.chance.pick(this.#ids);
    this.#stage.follow(async () => {
      if ((await agent.system.reads.find(id)) !== undefined) await run(id);
    });
  }
}

function receiverOf(taskId: string) {
  return {
    ...{ taskId, id: 'one', url: 'https://hook.example.com/told', version: '1.0' as const },
    ...{ token: canary, authentication: { scheme: 'Bearer', credentials: canary } },
  };
}
