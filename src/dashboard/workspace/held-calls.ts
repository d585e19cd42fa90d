import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { WorkspaceAgent } from '../../actors/workspace/workspace.ts';
import type { DeferralJson } from '../../http/wire/dashboard/held-call-json.ts';
import { messageOf } from '../../machines/message-of.ts';
import type { WaitingCalls } from '../reading/agent-tasks.ts';
import type { DashboardHub } from './dashboard-hub.ts';
import type { HeldLooks, Look } from './held-looks.ts';

/** Milliseconds to wait for all agents together; after that, the results received so far are shown. */
const patience = 1_000;

/** Milliseconds for which a late result may be used in place of a new one. */
const lateAge = 10_000;

export interface HeldCallsPorts {
  clock: Clock;
  log: Log;
  hub: Pick<DashboardHub, 'tell'>;
}

/** The waiting calls of several agents, and the agents that did not answer in time. */
interface Found {
  deferrals: DeferralJson[];
  /** Number of waiting calls in the agents that answered. */
  total: number;
  unasked: string[];
}

/** Collects the waiting calls of agents. An agent that hangs does not block decisions on the calls of the others. */
export class HeldCalls {
  readonly #ports: HeldCallsPorts;
  readonly #looks: HeldLooks;
  /** IDs of agents reported as unavailable whose request is still pending. */
  readonly #overdue = new Set<string>();
  /** IDs of agents that answered late; their last result is used once. */
  readonly #late = new Set<string>();

  constructor(ports: HeldCallsPorts, looks: HeldLooks) {
    this.#ports = ports;
    this.#looks = looks;
  }

  /**
   * Collects the waiting calls of these agents. Notifies clients to reload once an unavailable agent has answered.
   * Never rejects.
   */
  async of(agents: readonly WorkspaceAgent[]): Promise<Found> {
    const { clock } = this.#ports;
    const { promise: limit, resolve } = Promise.withResolvers<null>();
    const timer = clock.setTimeout(() => resolve(null), patience);
    try {
      const found = await Promise.all(agents.map((agent) => this.#oneOf(agent, limit)));
      const said = found.filter((one) => typeof one !== 'string');
      return {
        deferrals: said.flatMap(({ deferrals }) => deferrals),
        total: said.reduce((sum, { total }) => sum + total, 0),
        unasked: found.filter((one) => typeof one === 'string'),
      };
    } finally {
      clock.clearTimeout(timer);
    }
  }

  /** Returns the agent's ID if the request failed. */
  async #oneOf(
    agent: WorkspaceAgent,
    limit: Promise<null>,
  ): Promise<Pick<Look, 'deferrals' | 'total'> | string> {
    const { clock } = this.#ports;
    const found = await Promise.race([this.#ask(agent), limit]).catch(() => agent.id);
    if (found !== null) return found;
    const last = this.#late.delete(agent.id) ? this.#looks.last(agent.id) : null;
    if (last !== null && clock.now() - last.at <= lateAge) return last;
    this.#overdue.add(agent.id);
    return agent.id;
  }

  #ask(agent: WorkspaceAgent): Promise<WaitingCalls> {
    const { hub, log } = this.#ports;
    const asking = this.#looks.look(agent);
    asking.then(
      () => {
        if (!this.#overdue.delete(agent.id)) return;
        this.#late.add(agent.id);
        hub.tell('reset', {});
      },
      (error: unknown) => {
        this.#overdue.delete(agent.id);
        const reason = messageOf(error);
        log.warn(
          { agent: agent.id, reason },
          'dashboard: an agent did not return its waiting calls',
        );
      },
    );
    return asking;
  }
}
