import type { Clock, Log } from '../../actors/ports.ts';
import type { WorkspaceAgent } from '../../actors/workspace/workspace.ts';
import type { DeferralJson } from '../wire/dashboard/held-call-json.ts';
import type { WaitingCalls } from './agent-tasks.ts';
import type { DashboardHub } from './dashboard-hub.ts';
import type { HeldLooks, Look } from './held-looks.ts';

/** Milliseconds that all agents together may take to say what waits, before those that have said it are shown. */
const patience = 1_000;

/** Milliseconds for which what an agent said too late stands for what it would say. */
const lateAge = 10_000;

export interface HeldCallsPorts {
  clock: Clock;
  log: Log;
  hub: Pick<DashboardHub, 'tell'>;
}

/** What waits in several agents, and those that did not say so in time. */
interface Found {
  deferrals: DeferralJson[];
  /** How many wait in those that said so. */
  total: number;
  unasked: string[];
}

/** Asks agents for the calls that wait in them; one that hangs keeps nobody from deciding on the others. */
export class HeldCalls {
  readonly #ports: HeldCallsPorts;
  readonly #looks: HeldLooks;
  /** Ids of those that were called unasked and are still being asked. */
  readonly #overdue = new Set<string>();
  /** Ids of those that have answered since; what they said last is used once. */
  readonly #late = new Set<string>();

  constructor(ports: HeldCallsPorts, looks: HeldLooks) {
    this.#ports = ports;
    this.#looks = looks;
  }

  /** Finds what waits in these agents. Clients are told to read anew once an unasked one has answered. Never rejects. */
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

  /** Answers the id of an agent that could not be asked. */
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
        const reason = error instanceof Error ? error.message : String(error);
        log.warn({ agent: agent.id, reason }, 'dashboard: an agent did not say what waits');
      },
    );
    return asking;
  }
}
