import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { logFilesOf } from '../../src/actors/records/records.ts';
import { isFinal } from '../../src/machines/domain/task.ts';
import { decision, playing, type Step } from '../helpers/system-story.ts';
import { brokenInvariants, type Evidence } from './invariants.ts';
import { canary, logPath, type SimulatedAgent } from './simulated-agent.ts';
import { diskFaults } from './simulated-disk.ts';
import { type NetworkMood, networkMoods } from './simulated-network.ts';
import { SimulatedWorld } from './simulated-world.ts';
import { Told } from './told.ts';

/** What came of one simulated story. */
export interface Simulated {
  seed: number;
  /** Invariants that do not hold, each as a sentence. */
  broken: string[];
  /** What happened, in that order. */
  story: string[];
  /** A fingerprint of the whole log: the same seed gives the same one. */
  fingerprint: string;
  tasks: number;
  decisions: number;
  runs: number;
  /** How often a process was ended in the middle of something. */
  kills: number;
}

const acts = {
  send: 8,
  decide: 12,
  cancel: 1,
  leave: 1,
  receiver: 1,
  turns: 4,
  moments: 8,
  minutes: 1,
  restart: 0.4,
  kill: 0.4,
  powerCut: 0.4,
  diskFault: 1.5,
  diskFull: 0.4,
  diskMended: 2,
  network: 1,
} as const;

type Act = keyof typeof acts;

const steps: readonly Step[] = [
  { tool: 'pay', args: { to: 'ann' } },
  { tool: 'pay', args: { to: 'bob' } },
  { tool: 'look' },
  { tool: 'wipe' },
  { tool: 'http_request', args: { url: 'https://api.example.com/' } },
  { tool: 'http_request', args: { url: 'https://evil.example.net/' } },
  { tool: 'http_request', args: { url: 'https://rebound.example.com/latest/meta-data' } },
];

/**
 * Plays a story that a seed gives: callers, approvers, receivers and faults of the disk, the network and the process,
 * in any order. Then all is mended, what waits is decided, and every invariant is looked at.
 */
export async function simulate(seed: number, length = 80): Promise<Simulated> {
  const world = new SimulatedWorld(seed);
  try {
    return await new Story(seed, world).play(length);
  } finally {
    await world.remove();
  }
}

class Story {
  readonly #seed: number;
  readonly #world: SimulatedWorld;
  readonly #told = new Told();
  readonly #lines: string[] = [];
  readonly #broken = new Set<string>();
  readonly #evidence: Evidence[] = [];
  #ids: string[] = [];
  #kills = 0;
  #people = 0;

  constructor(seed: number, world: SimulatedWorld) {
    this.#seed = seed;
    this.#world = world;
  }

  async play(length: number): Promise<Simulated> {
    await this.#begin();
    for (let index = 0; index < length; index += 1) {
      const act = this.#world.chance.weighed<Act>(acts);
      this.#lines.push(act);
      const { processes } = this.#world;
      await this.#act(act);
      await this.#world.turns(this.#world.chance.below(12));
      // A fault of the disk may have been the end of it.
      if (processes !== this.#world.processes || this.#world.agent === null) await this.#afterEnd();
    }
    await this.#settle();
    await this.#world.stop();
    this.#gather();
    // Reading takes turns of the event loop, in which nothing may go on.
    for (const evidence of this.#evidence) {
      for (const what of await brokenInvariants(evidence)) this.#broken.add(what);
    }
    for (const what of this.#world.disk.lost) this.#broken.add(what);
    return {
      seed: this.#seed,
      broken: [...this.#broken],
      story: this.#lines,
      fingerprint: this.#fingerprint(),
      tasks: this.#told.accepted.size,
      decisions: this.#told.decisions.size,
      runs: this.#world.seen.length,
      kills: this.#kills,
    };
  }

  /** Starts a process, and tries again until its disk lets it. */
  async #begin(): Promise<void> {
    const mode = this.#world.chance.pick(['resume', 'resume', 'abandon'] as const);
    for (let tries = 1; !(await this.#world.start(mode)); tries += 1) {
      this.#lines.push(`start ${tries} failed`);
      if (tries > 3) this.#world.disk.fix();
      if (tries > 6) throw new Error(`the agent does not start: ${this.#world.logged.at(-1)}`);
    }
  }

  async #afterEnd(): Promise<void> {
    this.#kills += 1;
    this.#lines.push('the process has ended');
    this.#world.time.pass(this.#world.chance.below(600_000));
    await this.#begin();
    // A start mends what was torn, and a disk that refuses has the rest mended later.
    if (this.#world.disk.isSound) this.#gather();
  }

  async #act(act: Act): Promise<void> {
    const { world } = { world: this.#world };
    const { agent, chance, disk, network, time } = world;
    if (agent === null) return;
    if (act === 'send') this.#send(agent);
    else if (act === 'decide') await this.#decide(agent);
    else if (act === 'cancel') this.#on(agent, (id) => agent.system.cancel(id, 'called off'));
    else if (act === 'leave') this.#on(agent, (id) => agent.system.callerLeft(id));
    else if (act === 'receiver') this.#on(agent, (id) => agent.push.set(receiverOf(id)));
    else if (act === 'turns') await world.turns(chance.below(40));
    else if (act === 'moments') time.pass(chance.below(3_000));
    else if (act === 'minutes') time.pass(chance.below(400_000));
    else if (act === 'restart') await world.stop();
    else if (act === 'kill') world.kill('process');
    else if (act === 'powerCut') world.kill('power');
    else if (act === 'diskFault') disk.fail(chance.below(12), chance.pick(diskFaults));
    else if (act === 'diskFull') disk.isFull = true;
    else if (act === 'diskMended') disk.fix();
    else network.mood = chance.pick(Object.keys(networkMoods) as NetworkMood[]);
  }

  #send(agent: SimulatedAgent): void {
    const { chance } = this.#world;
    const asked = Array.from({ length: 1 + chance.below(3) }, () => chance.pick(steps));
    // Now and then a task that has ended runs again.
    const again = this.#ids.length > 0 && chance.next() < 0.1 ? { id: chance.pick(this.#ids) } : {};
    const request = playing([...asked, { say: 'done: {result}' }], again);
    this.#follow(async (isTold) => {
      const { decision: verdict } = await agent.admission.check();
      if (verdict === 'deny') return;
      const id = await agent.system.open(request);
      this.#ids.push(id);
      const task = await agent.system.watchers.settled(id, new AbortController().signal);
      if (!isTold()) return;
      this.#told.accepted.add(id);
      if (isFinal(task.state) && !('id' in again)) this.#told.ended.set(id, task.state);
    });
  }

  /** One to three people decide at once, mostly what waits. */
  async #decide(agent: SimulatedAgent): Promise<void> {
    const { chance } = this.#world;
    const waiting = await agent.system.reads.list({ state: 'deferred', limit: 20 });
    const ids = chance.next() < 0.8 ? waiting.tasks.map(({ id }) => id) : this.#ids;
    if (ids.length === 0) return;
    const id = chance.pick(ids);
    for (let people = 1 + chance.below(3); people > 0; people -= 1) {
      this.#people += 1;
      const approver = `person ${this.#people}`;
      const verb = chance.pick(['approve', 'approve', 'reject'] as const);
      this.#follow(async (isTold) => {
        const attempt = decision(verb, Date.now(), { approver });
        const answer = await agent.system.decide(id, attempt);
        if (!isTold() || answer.kind !== 'resolved') return;
        this.#told.accepted.add(id);
        this.#told.decided(answer.deferralId, { taskId: id, decision: verb, approver });
      });
    }
  }

  #on(agent: SimulatedAgent, run: (id: string) => Promise<unknown>): void {
    if (this.#ids.length === 0) return;
    const id = this.#world.chance.pick(this.#ids);
    this.#follow(async () => {
      if ((await agent.system.reads.find(id)) !== undefined) await run(id);
    });
  }

  /** Has somebody ask for something; `isTold` says whether an answer still reaches them. */
  #follow(ask: (isTold: () => boolean) => Promise<void>): void {
    const { processes } = this.#world;
    const isTold = () => processes === this.#world.processes;
    // Refusals are no promises.
    ask(isTold).catch(() => undefined);
  }

  /** Mends everything and decides what waits, until every task has ended. */
  async #settle(): Promise<void> {
    const { disk, network, time } = this.#world;
    disk.fix();
    network.mood = 'good';
    for (let rounds = 0; rounds < 60; rounds += 1) {
      if (this.#world.agent === null) await this.#begin();
      const { agent } = this.#world;
      if (agent === null) continue;
      await this.#world.turns(40);
      time.pass(20_000);
      await this.#world.turns(20);
      const { tasks } = await agent.system.reads.list({ limit: 500 });
      const left = tasks.filter(({ state }) => !isFinal(state));
      if (left.length === 0) return this.#compare(agent);
      for (const { id } of left.filter(({ state }) => state === 'deferred')) {
        const attempt = decision('approve', Date.now(), { approver: 'last' });
        await this.#world.until(agent.system.decide(id, attempt)).catch(() => undefined);
      }
    }
    this.#broken.add('tasks have not ended after everything was mended');
  }

  /** Looks whether what was told is so. */
  async #compare(agent: SimulatedAgent): Promise<void> {
    for (const id of this.#told.accepted) {
      const task = await agent.system.reads.find(id);
      if (task === undefined) this.#broken.add(`task ${id} was told of and is gone`);
    }
    for (const [id, state] of this.#told.ended) {
      const task = await agent.system.reads.find(id);
      const isOnce = task !== undefined && this.#ids.filter((other) => other === id).length === 1;
      if (isOnce && task.state !== state) {
        this.#broken.add(`task ${id} was told as ${state} and is ${task.state}`);
      }
    }
  }

  /** Keeps what there is to see at this moment. */
  #gather(): void {
    const { seen, network, logged } = this.#world;
    this.#evidence.push({
      log: logPath(this.#world.copy()),
      seen: [...seen],
      requests: [...network.requests],
      logged: [...logged],
      told: this.#told.asItIs(),
    });
  }

  #fingerprint(): string {
    const hash = createHash('sha256');
    for (const file of logFilesOf(logPath(this.#world.folder))) hash.update(readFileSync(file));
    return hash.digest('hex');
  }
}

function receiverOf(taskId: string) {
  return {
    ...{ taskId, id: 'one', url: 'https://hook.example.com/told', version: '1.0' as const },
    ...{ token: canary, authentication: { scheme: 'Bearer', credentials: canary } },
  };
}
