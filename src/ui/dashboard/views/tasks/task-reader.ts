import type { DashboardEvents } from '../../../../http/wire/dashboard/dashboard-events.ts';
import type { TaskListJson } from '../../../../http/wire/dashboard/task-row-json.ts';
import { agentPath } from '../../api/paths.ts';
import { sentenceOf } from '../../api/sentence-of.ts';
import type { Dashboard } from '../../start-dashboard.ts';
import { passes, queryOf, type TaskFilter } from './task-filter.ts';
import { type Frontier, keyOf, type ListedTask, newestFirst, settled } from './task-order.ts';

/** What the list shows. */
export interface TaskListView {
  tasks: readonly ListedTask[];
  /** There are more on the agents. */
  isPartial: boolean;
  isReading: boolean;
  /** By agent, why its tasks could not be read. */
  problems: readonly { agent: string; text: string }[];
}

const firstPage = 100;
const nextPage = 500;

/** Most tasks that a list holds; who looks for older ones narrows the filter. */
const most = 20_000;

/** Reads the tasks of several agents, newest first, and follows their changes. */
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

  /** Reads the first page of each agent; where so many tasks were shown before, that many, and shows them at once. */
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

  /** Reads on where each agent has more. */
  async more(): Promise<void> {
    if (this.#isReading || this.#ended.signal.aborted) return;
    if (this.#frontiers.size === 0 || this.#tasks.size >= most) return;
    const pages = [...this.#frontiers].map(([agent, { cursor }]) =>
      this.#read(agent, nextPage, cursor),
    );
    await this.#reading(pages);
  }

  /** Takes in a change; many of one frame are drawn at once. */
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
      // A page of a filtered list may be empty, and yet there is more.
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

  /** An event may have told of a later change while the page was on its way. */
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
