import type { Clock, Log } from '../../actors/ports.ts';
import type { WorkspaceAgent } from '../../actors/workspace/workspace.ts';
import type { DeferralJson } from '../wire/dashboard/held-call-json.ts';
import { deferralsOf } from './agent-tasks.ts';
import type { DashboardHub } from './dashboard-hub.ts';

/** Milliseconds that all agents together may take to say what waits, before those that have said it are shown. */
const patience = 1_000;

/** Milliseconds for which what an agent said too late stands for what it would say. */
const lateAge = 10_000;

export interface HeldCallsPorts {
  clock: Clock;
  log: Log;
  hub: Pick<DashboardHub, 'tell' | 'waitsTold'>;
}

/** What waits in several agents, and those that did not say so in time. */
interface Found {
  deferrals: DeferralJson[];
  unasked: string[];
}

/** What an agent is asked, or has said, and how much had been told when it was asked: what is told later it may not know. */
interface Asked<Answer> {
  found: Answer;
  told: number;
}

/** Asks agents for the calls that wait in them; one that hangs keeps nobody from deciding on the others. */
export class HeldCalls {
  readonly #ports: HeldCallsPorts;
  readonly #asking = new Map<string, Asked<Promise<DeferralJson[]>>>();
  /** Ids of those that were called unasked and are still being asked. */
  readonly #overdue = new Set<string>();
  /** What agents said after they had been called unasked; each is used once. */
  readonly #late = new Map<string, Asked<DeferralJson[]> & { at: number }>();

  constructor(ports: HeldCallsPorts) {
    this.#ports = ports;
  }

  /** Finds what waits in these agents. Clients are told to read anew once an unasked one has answered. Never rejects. */
  async of(agents: readonly WorkspaceAgent[]): Promise<Found> {
    const { clock } = this.#ports;
    const { promise: limit, resolve } = Promise.withResolvers<null>();
    const timer = clock.setTimeout(() => resolve(null), patience);
    try {
      const found = await Promise.all(agents.map((agent) => this.#oneOf(agent, limit)));
      return {
        deferrals: found.flatMap((one) => (typeof one === 'string' ? [] : one)),
        unasked: found.filter((one) => typeof one === 'string'),
      };
    } finally {
      clock.clearTimeout(timer);
    }
  }

  /** Answers the id of an agent that could not be asked. */
  async #oneOf(agent: WorkspaceAgent, limit: Promise<null>): Promise<DeferralJson[] | string> {
    const asking = this.#ask(agent);
    const found = await Promise.race([asking, limit]).catch(() => agent.id);
    if (found !== null) return found;
    const late = this.#takeLate(agent.id);
    if (late !== null) return late;
    this.#overdue.add(agent.id);
    return agent.id;
  }

  #ask(agent: WorkspaceAgent): Promise<DeferralJson[]> {
    const { clock, hub, log } = this.#ports;
    const { waitsTold: told } = hub;
    const known = this.#asking.get(agent.id);
    if (known?.told === told) return known.found;
    const asking = deferralsOf(agent).finally(() => {
      if (this.#asking.get(agent.id)?.found === asking) this.#asking.delete(agent.id);
    });
    asking.then(
      (found) => {
        if (!this.#overdue.delete(agent.id)) return;
        this.#late.set(agent.id, { found, told, at: clock.now() });
        hub.tell('reset', {});
      },
      (error: unknown) => {
        this.#overdue.delete(agent.id);
        const reason = error instanceof Error ? error.message : String(error);
        log.warn({ agent: agent.id, reason }, 'dashboard: an agent did not say what waits');
      },
    );
    this.#asking.set(agent.id, { found: asking, told });
    return asking;
  }

  #takeLate(id: string): DeferralJson[] | null {
    const late = this.#late.get(id);
    this.#late.delete(id);
    const { clock, hub } = this.#ports;
    const isFresh = late?.told === hub.waitsTold && clock.now() - late.at <= lateAge;
    return isFresh ? late.found : null;
  }
}
