import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { logFilesOf } from '../../src/actors/records/records.ts';
import type { Cast, Stage } from './cast.ts';
import { brokenInvariants, type Evidence } from './invariants.ts';
import { logPath } from './simulated-agent.ts';
import { SimulatedCallers } from './simulated-callers.ts';
import { diskFaults } from './simulated-disk.ts';
import { type NetworkMood, networkMoods } from './simulated-network.ts';
import { SimulatedPrograms } from './simulated-programs.ts';
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
  holds: number;
  decisions: number;
  runs: number;
  /** How often a process was ended in the middle of something. */
  kills: number;
}

/** What happens to any agent, and how often each comes. */
const faults = {
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

type Fault = keyof typeof faults;

/**
 * Plays a story that a seed gives: of an agent for an odd one, of a gate for an even one. Callers, programs, approvers,
 * receivers and faults of the disk, the network and the process come in any order. Then all is mended, what waits is
 * decided, and every invariant is looked at.
 */
export async function simulate(seed: number, length = 80): Promise<Simulated> {
  const world = new SimulatedWorld(seed, seed % 2 === 0 ? 'gate' : 'agent');
  try {
    return await new Story(seed, world).play(length);
  } finally {
    await world.remove();
  }
}

class Story {
  readonly #seed: number;
  readonly #world: SimulatedWorld;
  readonly #told: Told;
  readonly #lines: string[] = [];
  readonly #broken = new Set<string>();
  readonly #evidence: Evidence[] = [];
  readonly #cast: Cast;
  #kills = 0;

  constructor(seed: number, world: SimulatedWorld) {
    this.#seed = seed;
    this.#world = world;
    this.#told = new Told(world.team);
    const stage: Stage = { world, told: this.#told, follow: (ask) => this.#follow(ask) };
    this.#cast = seed % 2 === 0 ? new SimulatedPrograms(stage) : new SimulatedCallers(stage);
  }

  async play(length: number): Promise<Simulated> {
    await this.#begin();
    for (let index = 0; index < length; index += 1) {
      const act = this.#world.chance.weighed({ ...this.#cast.acts, ...faults });
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
    // Reading takes turns of the event loop, in which no other work may run.
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
      holds: new Set(this.#told.holds.answers.map(({ holdId }) => holdId)).size,
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
    if (this.#world.agent !== null) this.#cast.lookAgain(this.#world.agent);
    // A start mends what was torn, and a disk that refuses has the rest mended later.
    if (this.#world.disk.isSound) this.#gather();
  }

  async #act(act: string): Promise<void> {
    const { agent } = this.#world;
    if (agent === null) return;
    if (act in faults) await this.#happen(act as Fault);
    else await this.#cast.act(act, agent);
  }

  async #happen(fault: Fault): Promise<void> {
    const { chance, disk, network, time } = this.#world;
    if (fault === 'turns') await this.#world.turns(chance.below(40));
    else if (fault === 'moments') time.pass(chance.below(3_000));
    else if (fault === 'minutes') time.pass(chance.below(400_000));
    else if (fault === 'restart') await this.#world.stop();
    else if (fault === 'kill') this.#world.kill('process');
    else if (fault === 'powerCut') this.#world.kill('power');
    else if (fault === 'diskFault') disk.fail(chance.below(12), chance.pick(diskFaults));
    else if (fault === 'diskFull') disk.isFull = true;
    else if (fault === 'diskMended') disk.fix();
    else network.mood = chance.pick(Object.keys(networkMoods) as NetworkMood[]);
  }

  /** Sends a request of a caller; `isTold` is whether an answer still reaches them. */
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
      if (!(await this.#cast.settle(agent))) continue;
      for (const what of await this.#cast.compare(agent)) this.#broken.add(what);
      return;
    }
    this.#broken.add('tasks have not ended after everything was mended');
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
