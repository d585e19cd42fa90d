import type { DashboardEvents } from '../../../../http/wire/dashboard/dashboard-events.ts';
import type { TaskListJson } from '../../../../http/wire/dashboard/task-row-json.ts';
import { agentPath } from '../../api/paths.ts';
import { sentenceOf } from '../../api/sentence-of.ts';
import type { Dashboard } from '../../start-dashboard.ts';
import { passes, queryOf, type TaskFilter } from './task-filter.ts';
import { type Frontier, keyOf, type ListedTask, newestFirst, settled } from './task-order.ts';

/** The displayed state of the list. */
export interface TaskListView {
  tasks: readonly ListedTask[];
  /** True if agents have more tasks. */
  isPartial: boolean;
  isReading: boolean;
  /** The reason why an agent's tasks could not be loaded, by agent. */
  problems: readonly { agent: string; text: string }[];
}

const firstPage = 100;
const nextPage = 500;

/** Maximum number of tasks in a list; a narrower filter finds older ones. */
const most = 20_000;

/** Loads the tasks of several agents, newest first, and applies their changes. */
export class TaskReader {
  readonly #client: Dashboard['client'];
  readonly #filter: TaskFilter;
  readonly #show: (view: TaskListView) => void;
  readonly #ended = new AbortController();
  readonly #tasks = new Map<string, ListedTask>();
  readonly #frontiers = new Map<string, Frontier>();
  readonly #problems = new Map<string, string>();
  #ordered: ListedTask[] = [];
  #isReading = false;
  #isHidden = false;
  #frame: number | null = null;

  constructor(client: Dashboard['client'], filter: TaskFilter, show: (view: TaskListView) => void) {
    this.#client = client;
    this.#filter = filter;
    this.#show = show;
  }

  /**
   * Loads each agent's first page. If `shown` tasks were displayed before, loads that many and displays them at once.
   */
  async open(agents: readonly string[], shown = 0): Promise<void> {
    this.#isHidden = shown > 0;
    const asked = agents.filter((id) => this.#filter.agent === '' || id === this.#filter.agent);
    await this.#reading(asked.map((agent) => this.#read(agent, firstPage)));
    const enough = Math.max(1, Math.min(shown, most));
    while (this.#tasks.size < enough && this.#frontiers.size > 0) {
      if (this.#ended.signal.aborted) return;
      await this.more();
    }
    this.#isHidden = false;
    if (!this.#ended.signal.aborted) this.#draw();
  }

  /** Loads the next page of each agent that has more. */
  async more(): Promise<void> {
    if (this.#isReading || this.#ended.signal.aborted) return;
    if (this.#frontiers.size === 0 || this.#tasks.size >= most) return;
    const pages = [...this.#frontiers].map(([agent, { cursor }]) =>
      this.#read(agent, nextPage, cursor),
    );
    await this.#reading(pages);
  }

  /** Applies a change; changes within one frame are rendered together. */
  apply({ agent_id, task }: DashboardEvents['task']): void {
    const listed = { ...task, agent: agent_id };
    const key = keyOf(listed);
    if (passes(listed, this.#filter)) this.#tasks.set(key, listed);
    else this.#tasks.delete(key);
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null;
      this.#draw();
    });
  }

  close(): void {
    this.#ended.abort();
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
  }

  async #reading(pages: readonly Promise<void>[]): Promise<void> {
    this.#isReading = true;
    this.#draw();
    await Promise.all(pages);
    this.#isReading = false;
    if (!this.#ended.signal.aborted) this.#draw();
  }

  async #read(agent: string, limit: number, cursor?: string): Promise<void> {
    const query = queryOf(this.#filter);
    query.set('limit', String(limit));
    if (cursor !== undefined) query.set('cursor', cursor);
    try {
      const path = `${agentPath(agent, 'tasks')}?${query}`;
      const page = await this.#client.get<TaskListJson>(path, this.#ended.signal);
      for (const task of page.tasks) this.#keep({ ...task, agent });
      const { next_cursor: next } = page;
      // A page of a filtered list may be empty although more pages follow.
      const oldest = page.tasks.at(-1)?.created_at ?? this.#frontiers.get(agent)?.oldest ?? '';
      if (next === undefined) this.#frontiers.delete(agent);
      else this.#frontiers.set(agent, { cursor: next, oldest });
      this.#problems.delete(agent);
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      this.#frontiers.delete(agent);
      this.#problems.set(agent, sentenceOf(error));
    }
    this.#draw();
  }

  /** An event may have reported a later change while the page was loading. */
  #keep(task: ListedTask): void {
    const known = this.#tasks.get(keyOf(task));
    if (known === undefined || known.changed_at <= task.changed_at) {
      this.#tasks.set(keyOf(task), task);
    }
  }

  #draw(): void {
    if (this.#isHidden) return;
    this.#ordered = newestFirst(this.#tasks.values());
    this.#show({
      tasks: settled(this.#ordered, this.#frontiers.values()),
      isPartial: this.#frontiers.size > 0,
      isReading: this.#isReading,
      problems: [...this.#problems].map(([agent, text]) => ({ agent, text })),
    });
  }
}
