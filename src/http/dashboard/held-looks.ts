import type { Clock } from '../../actors/ports.ts';
import type { WorkspaceAgent } from '../../actors/workspace/workspace.ts';
import type { DeferralJson } from '../wire/dashboard/held-call-json.ts';
import { presentAgent } from '../wire/dashboard/present-agent.ts';
import { deferralsAtOnce, deferralsOf, type WaitingCalls } from './agent-tasks.ts';
import type { DashboardHub } from './dashboard-hub.ts';

interface HeldLooksPorts {
  clock: Clock;
  hub: Pick<DashboardHub, 'tell'>;
}

/** What waited in an agent when it was last looked at. */
export interface Look {
  /** Those whose deadline comes first. */
  deferrals: readonly DeferralJson[];
  /** How many wait. */
  total: number;
  /** When the agent had answered, in milliseconds since 1970. */
  at: number;
}

/**
 * Looks what waits in agents, and tells the clients how it differs from the look before. Whoever reads what waits reads a
 * look, and an agent is looked at by one at a time: so whatever a client was answered, it is told of the next change.
 */
export class HeldLooks {
  readonly #ports: HeldLooksPorts;
  readonly #last = new Map<string, Look>();
  /** How many calls of an agent are looked at, for those of which a client asked for more than usual. */
  readonly #most = new Map<string, number>();
  readonly #running = new Map<WorkspaceAgent, Promise<WaitingCalls>>();
  /** Looks that begin after the running ones; all who ask meanwhile share them. */
  readonly #next = new Map<WorkspaceAgent, Promise<WaitingCalls>>();

  constructor(ports: HeldLooksPorts) {
    this.#ports = ports;
  }

  /** How many calls wait in the agent of an id, as it was told last. */
  count(id: string): number {
    return this.#last.get(id)?.total ?? 0;
  }

  /** Returns the last look at the agent of an id; `null` when nothing is known of it. */
  last(id: string): Look | null {
    return this.#last.get(id) ?? null;
  }

  /** Forgets what waited in an agent that has ended. */
  forget(id: string): void {
    this.#last.delete(id);
    this.#most.delete(id);
  }

  /** Has looks at an agent bring up to that many calls, as long as so many wait. */
  deepen(id: string, most: number): void {
    this.#most.set(id, Math.max(most, this.#most.get(id) ?? deferralsAtOnce));
  }

  /** Returns what waits in an agent, never as it was before this was asked. Rejects with a LineError or an AgentStateError. */
  look(agent: WorkspaceAgent): Promise<WaitingCalls> {
    const shared = this.#next.get(agent);
    if (shared !== undefined) return shared;
    const running = this.#running.get(agent);
    if (running === undefined) return this.#begin(agent);
    const begin = () => this.#begin(agent);
    const next = running.then(begin, begin);
    this.#next.set(agent, next);
    return next;
  }

  #begin(agent: WorkspaceAgent): Promise<WaitingCalls> {
    this.#next.delete(agent);
    const look = this.#lookNow(agent).finally(() => this.#running.delete(agent));
    this.#running.set(agent, look);
    return look;
  }

  async #lookNow(agent: WorkspaceAgent): Promise<WaitingCalls> {
    const pid = agent.served?.pid;
    const found = await deferralsOf(agent, this.#most.get(agent.id));
    if (found.total <= deferralsAtOnce) this.#most.delete(agent.id);
    // What an agent said that has ended since is of no use to anybody.
    if (agent.served?.pid === pid) this.#tell(agent, found);
    return found;
  }

  #tell(agent: WorkspaceAgent, { deferrals, total }: WaitingCalls): void {
    const { clock, hub } = this.#ports;
    const last = this.#last.get(agent.id);
    const before = last?.deferrals ?? [];
    this.#last.set(agent.id, { deferrals, total, at: clock.now() });
    const told = { agent_id: agent.id, pending: total };
    const ended = without(before, deferrals);
    const begun = without(deferrals, before);
    for (const { task_id } of ended) hub.tell('deferral', { ...told, deferral: null, task_id });
    for (const deferral of [...begun, ...toldMore(before, deferrals)]) {
      hub.tell('deferral', { ...told, deferral, task_id: deferral.task_id });
    }
    if (begun.length + ended.length > 0 || total !== (last?.total ?? 0)) {
      hub.tell('agent_status', presentAgent(agent, total));
    }
  }
}

/** Returns those to which something was written since they were looked at. */
function toldMore(before: readonly DeferralJson[], now: readonly DeferralJson[]): DeferralJson[] {
  const written = new Map(before.map(({ id, messages = [] }) => [id, messages.length]));
  return now.filter(({ id, messages = [] }) => messages.length > (written.get(id) ?? Infinity));
}

function without(
  deferrals: readonly DeferralJson[],
  others: readonly DeferralJson[],
): DeferralJson[] {
  const ids = new Set(others.map(({ id }) => id));
  return deferrals.filter(({ id }) => !ids.has(id));
}
