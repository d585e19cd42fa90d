import type { StateHistory } from '../../machines/task/entered-state.ts';
import { isFinal, type Task, taskStates } from '../../machines/task/task.ts';
import { everything, type OwnedTask } from '../../machines/task/task-access.ts';
import { taskMachine, taskMachineVersion } from '../../machines/task/task-machine.ts';
import type {
  ChangedQuery,
  PageQuery,
  TaskFilter,
  TaskPage,
  TaskQuery,
  TaskRows,
} from '../records/records.ts';
import { keptEvents } from '../telemetry/telemetry.ts';
import type { LiveTasks } from './live-tasks.ts';
import type { SentMessages } from './sent-messages.ts';
import type { SaidMessage } from './task-request.ts';
import { Turns } from './turns.ts';

const finalStates = new Set<string>(taskStates.filter(isFinal));

/** What reading tasks needs. */
export interface TaskReadsPorts {
  rows: TaskRows;
  tasks: Pick<LiveTasks, 'find'>;
  sent: Pick<SentMessages, 'repeated'>;
  /** True when other daemons change the same tasks, so that none is known without a look at the store. */
  isShared: boolean;
  /** True while the inspector is on. */
  isInspected: boolean;
}

/** Reads tasks as they stand on disk. Many lists at once hold nothing else up. */
export class TaskReads {
  readonly #ports: TaskReadsPorts;
  readonly #turns = new Turns();

  constructor(ports: TaskReadsPorts) {
    this.#ports = ports;
  }

  /** Returns a task as it stands on disk. */
  async find(id: string): Promise<Task | undefined> {
    const { tasks, rows, isShared } = this.#ports;
    const known = isShared ? null : tasks.find(id)?.committed;
    return known ?? rows.find(id);
  }

  /** Returns the latest run of a task as it stands on disk; `undefined` as long as nothing of it does. */
  async latestRun(id: string): Promise<Task | undefined> {
    const live = this.#ports.tasks.find(id);
    if (live === undefined) return this.#ports.rows.find(id);
    // What a live task shows as final is the run before. Nothing has to be read, as every send asks this.
    const { committed } = live;
    if (committed === null || isFinal(committed.state)) return undefined;
    return this.#ports.isShared ? this.#ports.rows.find(id) : committed;
  }

  /** Returns the task that waits on a deferral. */
  findByDeferral(deferralId: string): Promise<Task | undefined> {
    return this.#ports.rows.findByDeferral(deferralId);
  }

  /** Returns the id of the task of a message that is a repeat, which is recorded. */
  findBySent(said: SaidMessage): Promise<string | undefined> {
    return this.#ports.sent.repeated(said);
  }

  /** Returns the id of the task with an alias, which only tasks of a store that daemons share have. */
  findByAlias(alias: string): Promise<string | undefined> {
    return this.#ports.rows.messages.find(alias);
  }

  /** Returns what tells whose a task is, also before it is first on disk. */
  async whose(id: string): Promise<OwnedTask | undefined> {
    const { tasks, rows } = this.#ports;
    const live = tasks.find(id)?.actor.getSnapshot().context;
    if (live === undefined) return rows.find(id);
    const { run, deferral, settled } = live;
    return { ...run, deferral, settled };
  }

  /** Returns the states of the chart that a task has entered, as they stand on disk. */
  statesOf(id: string): Promise<StateHistory> {
    return this.#ports.rows.states.of(id);
  }

  /**
   * Returns the way of a task through its chart as inspection events, redacted, from what stands on disk; `null` while
   * the inspector is off.
   */
  async inspectionOf(id: string): Promise<object[] | null> {
    const { rows, isInspected } = this.#ports;
    if (!isInspected) return null;
    const { states, leftOut, version } = await rows.states.of(id);
    const snapshot = (await rows.read(id))?.snapshot as { context?: object } | null | undefined;
    return keptEvents({
      name: id,
      // A chart of another version may lack states that this task was in.
      chart: version === taskMachineVersion ? taskMachine.config : null,
      states,
      leftOut,
      isFinal: (state) => finalStates.has(state),
      context: snapshot?.context ?? null,
    });
  }

  /** Lists the tasks of a scope, the one that was made last first. */
  async list(query: TaskQuery, scope = everything): Promise<TaskPage> {
    await this.#turns.next();
    return this.#ports.rows.listing.made(query, scope);
  }

  /** Lists the tasks of a scope, the one whose state changed last first. */
  async listChanged(query: ChangedQuery, scope = everything): Promise<TaskPage> {
    await this.#turns.next();
    return this.#ports.rows.listing.changed(query, scope);
  }

  /** Lists tasks of a scope that wait for a decision, the one whose deadline comes first at the front. */
  async listWaiting(query: PageQuery, scope = everything): Promise<TaskPage> {
    await this.#turns.next();
    return this.#ports.rows.listing.waiting(query, scope);
  }

  /** Counts the tasks that a listing without its pages would show, up to a limit of its own. */
  total(filter: TaskFilter, scope = everything): Promise<number> {
    return this.#ports.rows.listing.total(filter, scope);
  }
}
