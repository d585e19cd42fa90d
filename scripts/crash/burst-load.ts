import type { AgentProcess } from '../../test/helpers/agent-process.ts';
import { Crowd } from './crowd.ts';

/** Calls that programs ask for at the same moment. */
const callsOfBurst = 10;

/** What each adds to a limit of 6. */
const amount = 2;

/** Attempts of a program to receive its answer. */
const mostAttempts = 100;

/** Programs that ask a gate for ten refunds of one shop at once, at any daemon. */
export class BurstLoad extends Crowd {
  readonly decisions = [];
  readonly known = new Set<string>();
  handedOut = 0;
  /** Bursts whose calls were all answered. */
  done = 0;
  readonly #broken: string[] = [];

  start(callers: number): void {
    this.repeat(Array.from({ length: callers }, () => () => this.#burst()));
  }

  async broken(): Promise<string[]> {
    return this.#broken;
  }

  async #burst(): Promise<void> {
    const shop = `shop-${this.refunds.length}`;
    const orders = Array.from({ length: callsOfBurst }, (_, n) => ({
      shop,
      order: `${n}`,
      amount,
    }));
    this.refunds.push(...orders);
    const allowed = await Promise.all(orders.map((args) => this.#ask(args)));
    this.handedOut += allowed.filter(Boolean).length;
    this.done += 1;
  }

  /** Asks until the answer is there, as a program does. */
  async #ask(args: { shop: string; order: string; amount: number }): Promise<boolean> {
    const key = `${args.shop}-${args.order}`;
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      const agent = this.pick(this.cluster.alive);
      const answered = agent && (await this.#post(agent, { key, tool: 'grant', args }));
      if (answered !== undefined) return answered;
      await new Promise((next) => setTimeout(next, 100));
    }
    this.#broken.push(`the call ${key} was never answered`);
    return false;
  }

  async #post(agent: AgentProcess, body: object): Promise<boolean | undefined> {
    const signal = AbortSignal.timeout(10_000);
    const headers = { 'content-type': 'application/json' };
    const asked = agent.request('POST', '/holds', { body, headers, signal });
    const answered = await asked.catch(() => null);
    if (answered?.status !== 200) return undefined;
    const { hold_id: id, status: answer } = answered.body as { hold_id: string; status: string };
    this.known.add(id);
    if (answer !== 'allowed') return false;
    if (this.random() < 0.7) {
      const outcome = { status: this.random() < 0.5 ? 'succeeded' : 'failed' };
      await agent.post(`/holds/${id}/outcome`, outcome).catch(() => undefined);
    }
    return true;
  }
}
