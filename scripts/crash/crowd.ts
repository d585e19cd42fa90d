import type { AgentProcess } from '../../test/helpers/agent-process.ts';
import type { Refund } from '../../test/helpers/limited-refunds.ts';
import type { AuditLine } from '../../test/helpers/test-agent.ts';
import type { Cluster } from './cluster.ts';

/** Refunds of one shop, before the next one is asked; some of them are for the same order. */
const refundsOfShop = 30;

/** People and programs of a cluster, each of whom asks a daemon by chance and asks another one when it is gone. */
export abstract class Crowd {
  protected readonly cluster: Cluster;
  protected readonly random: () => number;
  /** The refunds that were asked for. */
  readonly refunds: Refund[] = [];
  #running: Promise<void>[] = [];
  #isOver = false;

  /** @param random gives numbers from 0 up to 1 */
  constructor(cluster: Cluster, random: () => number) {
    this.cluster = cluster;
    this.random = random;
  }

  /** Begins to call and to decide. */
  abstract start(callers: number): void;

  /** Each of them asks once more, when all is over. */
  async lookAgain(): Promise<void> {
    // Callers of tasks are looked for with the tasks.
  }

  /** Returns the reports to them that are wrong, one sentence each. */
  abstract broken(lines: readonly AuditLine[]): Promise<string[]>;

  /** Ends the load; what waits is decided until nothing does. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  /** Repeats each of these until the end. */
  protected repeat(runs: readonly ((agent: AgentProcess) => Promise<void>)[]): void {
    this.#running = runs.map((run) => this.#repeatOne(run));
  }

  /** Returns the next refund to ask for. */
  protected nextRefund(): Refund {
    const shop = `shop-${Math.floor(this.refunds.length / refundsOfShop)}`;
    const order = `order-${Math.floor(this.random() * 8)}`;
    const refund = { shop, order, amount: 1 + Math.floor(this.random() * 3) };
    this.refunds.push(refund);
    return refund;
  }

  protected pick<Thing>(things: readonly Thing[]): Thing | undefined {
    return things[Math.floor(this.random() * things.length)];
  }

  async #repeatOne(run: (agent: AgentProcess) => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      const agent = this.pick(this.cluster.alive);
      await (agent === undefined ? Promise.resolve() : run(agent)).catch(() => undefined);
      await new Promise((next) => setTimeout(next, 5));
    }
  }
}
