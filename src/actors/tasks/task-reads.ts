import { isFinal, type Task } from '../../machines/domain/task.ts';
import type { StateHistory } from '../../machines/task/entered-state.ts';
import { taskMachineVersion } from '../../machines/task/snapshot-steps.ts';
import { everything, type OwnedTask } from '../../machines/task/task-access.ts';
import { taskMachine } from '../../machines/task/task-machine.ts';
import type {
  ChangedQuery,
  Decider,
  PageQuery,
  TaskFilter,
  TaskPage,
  TaskQuery,
  TaskRows,
} from '../records/records.ts';
import { keptEvents } from '../telemetry/telemetry.ts';
import { keptSnapshot } from './kept-run.ts';
import type { LiveTasks } from './live-tasks.ts';
import type { SentMessages } from './sent-messages.ts';
import type { SaidMessage } from './task-request.ts';
import { Turns } from './turns.ts';

export interface TaskReadsPorts {
  rows: TaskRows;
  tasks: Pick<LiveTasks, 'find'>;
  sent: Pick<SentMessages, 'repeated'>;
  /** True if other daemons change the same tasks, so that cached tasks may be outdated. */
  isShared: boolean;
  /** True while the inspector is on. */
  isInspected: boolean;
}

/** Reads committed tasks. Concurrent lists do not block other work. */
export class TaskReads {
  readonly #ports: TaskReadsPorts;
  readonly #turns = new Turns();

  constructor(ports: TaskReadsPorts) {
    this.#ports = ports;
  }

  /** Returns a committed task. */
  async find(id: string): Promise<Task | undefined> {
    const { tasks, rows, isShared } = this.#ports;
    const known = isShared ? null : tasks.find(id)?.committed;
    return known ?? rows.find(id);
  }

  /** Returns the latest run of a committed task; `undefined` until part of it is on disk. */
  async latestRun(id: string): Promise<Task | undefined> {
    const live = this.#ports.tasks.find(id);
    if (live === undefined) return this.#ports.rows.find(id);
    // A live task that appears final shows its previous run. No read is needed; every send calls this.
    const { committed } = live;
    if (committed === null || isFinal(committed.state)) return undefined;
    return this.#ports.isShared ? this.#ports.rows.find(id) : committed;
  }

  /** Returns the task that waits on a deferral. */
  findByDeferral(deferralId: string): Promise<Task | undefined> {
    return this.#ports.rows.findByDeferral(deferralId);
  }

  /** Returns the task id if a message is a repeat, and records the repeat. */
  findBySent(said: SaidMessage): Promise<string | undefined> {
    return this.#ports.sent.repeated(said);
  }

  /** Returns the id of the task with an alias; only tasks of a shared store have aliases. */
  findByAlias(alias: string): Promise<string | undefined> {
    return this.#ports.rows.messages.find(alias);
  }

  /** Returns the owner data of a task, even before its first save. */
  async whose(id: string): Promise<OwnedTask | undefined> {
    const { tasks, rows } = this.#ports;
    const live = tasks.find(id)?.actor.getSnapshot().context;
    if (live === undefined) return rows.find(id);
    const { run, deferral, settled } = live;
    return { ...run, deferral, settled };
  }

  /** Returns the committed states of the chart that a task has entered. */
  statesOf(id: string): Promise<StateHistory> {
    return this.#ports.rows.states.of(id);
  }

  /**
   * Returns the stored path of a task through its chart as redacted inspection events; `null` while the inspector is
   * off.
   */
  async inspectionOf(id: string): Promise<object[] | null> {
    const { rows, isInspected } = this.#ports;
    if (!isInspected) return null;
    const { states, leftOut, version } = await rows.states.of(id);
    const stored = await rows.read(id);
    const snapshot = stored && (keptSnapshot(stored) as { context: object } | null);
    return keptEvents({
      name: id,
      // A chart of another version may lack states of this task.
      chart: version === taskMachineVersion ? taskMachine.config : null,
      states,
      leftOut,
      isFinal,
      context: snapshot?.context ?? null,
    });
  }

  /** Lists the tasks of a scope by creation, newest first. */
  async list(query: TaskQuery, scope = everything): Promise<TaskPage> {
    await this.#turns.next();
    return this.#ports.rows.listing.made(query, scope);
  }

  /** Lists the tasks of a scope by their last state change, newest first. */
  async listChanged(query: ChangedQuery, scope = everything): Promise<TaskPage> {
    await this.#turns.next();
    return this.#ports.rows.listing.changed(query, scope);
  }

  /** Lists tasks of a scope that wait for a decision, earliest deadline first. */
  async listWaiting(query: PageQuery, scope = everything): Promise<TaskPage> {
    await this.#turns.next();
    return this.#ports.rows.listing.waiting(query, scope);
  }

  /** Lists the tasks with a decision of a caller, newest task first. */
  async listDecided(by: Decider, query: PageQuery): Promise<TaskPage> {
    await this.#turns.next();
    return this.#ports.rows.listing.decided(by, query);
  }

  /** Counts the tasks of a list across all its pages, up to a separate limit. */
  total(filter: TaskFilter, scope = everything): Promise<number> {
    return this.#ports.rows.listing.total(filter, scope);
  }
}
