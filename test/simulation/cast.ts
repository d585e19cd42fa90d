import type { Refund } from '../helpers/limited-refunds.ts';
import type { SimulatedAgent } from './simulated-agent.ts';
import type { SimulatedWorld } from './simulated-world.ts';
import type { Told } from './told.ts';

/** The refunds that callers and programs ask for. */
export const refunds: readonly Refund[] = [2, 3, 4].map((amount) => ({
  ...{ shop: 'north', order: `order-${amount}`, amount },
}));

/** What the people and programs of a story share. */
export interface Stage {
  world: SimulatedWorld;
  told: Told;
  /** Lets one of them ask for something; `isTold` says whether an answer still reaches them. */
  follow(ask: (isTold: () => boolean) => Promise<void>): void;
}

/** The people and programs around an agent. */
export interface Cast {
  /** What they do, and how often each comes. */
  readonly acts: Readonly<Record<string, number>>;
  act(act: string, agent: SimulatedAgent): Promise<void> | void;
  /** Checks after a start whether the agent still has what it reported. */
  lookAgain(agent: SimulatedAgent): void;
  /** Decides what waits, once. Resolves with true when nothing is under way any more. */
  settle(agent: SimulatedAgent): Promise<boolean>;
  /** Returns what was reported and is wrong in the end, one sentence each. */
  compare(agent: SimulatedAgent): Promise<string[]>;
}
