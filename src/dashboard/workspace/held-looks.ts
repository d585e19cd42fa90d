import type { Clock } from '../../actors/ports/clock.ts';
import type { WorkspaceAgent } from '../../actors/workspace/workspace.ts';
import type { DeferralJson } from '../../http/wire/dashboard/held-call-json.ts';
import { deferralsAtOnce, deferralsOf, type WaitingCalls } from '../reading/agent-tasks.ts';
import type { DashboardHub } from './dashboard-hub.ts';
import { presentAgent } from './present-agent.ts';

interface HeldLooksPorts {
  clock: Clock;
  hub: Pick<DashboardHub, 'tell'>;
}

/** An agent's waiting calls at the last scan. */
export interface Look {
  /** The calls with the earliest deadlines. */
  deferrals: readonly DeferralJson[];
  /** Total number of waiting calls. */
  total: number;
  /** Time of the agent's answer in epoch milliseconds. */
  at: number;
}

/**
 * Scans agents' waiting calls and notifies clients of the difference to the previous scan. Clients only receive scan
 * results, and scans of one agent never overlap, so every client is notified of the change after the state it received.
 */
export class HeldLooks {
  readonly #ports: HeldLooksPorts;
  readonly #last = new Map<string, Look>();
  /** Number of calls per scan for agents of which a client requested more than the default. */
  readonly #most = new Map<string, number>();
  readonly #running = new Map<WorkspaceAgent, Promise<WaitingCalls>>();
  /** Scans queued behind the running ones; all requests in the meantime share them. */
  readonly #next = new Map<WorkspaceAgent, Promise<WaitingCalls>>();

  constructor(ports: HeldLooksPorts) {
    this.#ports = ports;
  }

  /** Returns the last published number of waiting calls of an agent. */
  count(id: string): number {
    return this.#last.get(id)?.total ?? 0;
  }

  /** Returns the last scan of an agent; `null` if there is none. */
  last(id: string): Look | null {
    return this.#last.get(id) ?? null;
  }

  /** Discards the waiting calls of a stopped agent. */
  forget(id: string): void {
    this.#last.delete(id);
    this.#most.delete(id);
  }

  /** Raises the number of calls per scan of an agent, as long as that many calls are waiting. */
  deepen(id: string, most: number): void {
    this.#most.set(id, Math.max(most, this.#most.get(id) ?? deferralsAtOnce));
  }

  /**
   * Returns an agent's waiting calls from a scan that began after this call. Rejects with LineError or AgentStateError.
   */
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
    // The result of an agent that has stopped since is discarded.
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

/** Returns the deferrals that received new messages since the last scan. */
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
