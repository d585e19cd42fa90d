import { createStore } from '@xstate/store';
import type { TaskDetailJson } from '../../../http/wire/dashboard/task-detail-json.ts';
import type { ApiClient } from '../api/client.ts';
import { agentPath } from '../api/paths.ts';
import { type Decided, type Outcome, outcomeOf } from './outcome-of.ts';
import { hrefOf } from './route.ts';
import type { createToasts } from './toasts.ts';
import type { WorkspaceStore } from './workspace.ts';

/** Maximum number of stored decisions. */
const most = 50;

/** Time between two reads of the released holds without a report, in milliseconds. */
const pause = 2_000;

export type DecidedStore = ReturnType<typeof createDecided>;

/** Creates the store of the decisions made on this page since it was opened, newest first. */
export function createDecided() {
  return createStore({
    context: { list: [] as Decided[] },
    on: {
      noted: ({ list }, decided: Omit<Decided, 'outcome'>) => ({
        list: [{ ...decided, outcome: null }, ...list].slice(0, most),
      }),
      ended: ({ list }, { id, outcome }: { id: string; outcome: Outcome }) => ({
        list: list.map((one) => (one.deferral.id === id ? { ...one, outcome } : one)),
      }),
    },
  });
}

/**
 * Follows the approved calls until their outcome is known, and reports it on every view. Returns a function that stops
 * following.
 */
export function followDecided(
  decided: DecidedStore,
  {
    workspace,
    client,
    toasts,
  }: { workspace: WorkspaceStore; client: ApiClient; toasts: ReturnType<typeof createToasts> },
): void {
  const open = (): Decided[] =>
    decided
      .getSnapshot()
      .context.list.filter(({ verb, outcome }) => verb === 'approve' && outcome === null);

  async function read({ deferral }: Decided): Promise<void> {
    const { agent_id: agent, task_id: task, id, tool } = deferral;
    const path = agentPath(agent, 'tasks', task);
    // An agent that does not respond is asked again at the next change.
    const detail = await client.get<TaskDetailJson>(path).catch(() => null);
    const outcome = detail === null ? null : outcomeOf(detail.timeline, deferral);
    if (outcome === null || !open().some((one) => one.deferral.id === id)) return;
    decided.trigger.ended({ id, outcome });
    toasts.trigger.shown({
      text: `${tool} ${outcome.words}`,
      tone: outcome.isFine ? 'plain' : 'deny',
      href: hrefOf('tasks', agent, task),
    });
  }

  workspace.on('task', ({ agent_id, task }) => {
    for (const one of open()) {
      if (one.deferral.agent_id === agent_id && one.deferral.task_id === task.id) void read(one);
    }
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** The task of a hold has ended before its program reports, and no event of the stream follows. */
  function askForReports(): void {
    clearTimeout(timer);
    if (released().length > 0) timer = setTimeout(() => void readReleased(), pause);
  }

  const released = () => open().filter(({ deferral }) => deferral.hold !== undefined);

  async function readReleased(): Promise<void> {
    if (!document.hidden) for (const one of released()) await read(one);
    askForReports();
  }

  // The task may have ended before the response to the decision arrived.
  let known = 0;
  decided.subscribe(({ context: { list } }) => {
    const [newest] = list;
    if (list.length > known && newest !== undefined && newest.verb === 'approve') void read(newest);
    known = list.length;
    askForReports();
  });
}
