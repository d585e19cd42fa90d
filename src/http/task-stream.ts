import type { Progress } from '../actors/tasks/tasks.ts';
import { isFinal, type Task } from '../machines/task/task.ts';
import { hasChanged } from './has-changed.ts';
import type { RoutedContext } from './request-state.ts';
import { EventStream } from './wire/sse.ts';
import { presentTask } from './wire/task-json.ts';

/** The position of a client in a task's stream: a revision of the task and an event since. */
export interface Seen {
  revision: number;
  event: number;
}

/** Settings of one client's stream. */
export interface TaskStreamOptions {
  id: string;
  /** The position of the client; `nothing` for one that joins, `start` for the one that began the run. */
  seen: Seen | 'nothing' | 'start';
  /** Called when the client leaves while the task goes on. */
  onGone?: () => void;
}

/**
 * Streams a task to one client until it is final: `status` for each change, `progress` between them, `result` at the
 * end (docs/contract/transports.md). The id of an event is `<revision>.<n>`; a client that comes back with it is shown
 * what the task has become since, one that joins without it also what the model has said so far in its turn.
 */
export async function streamTask(
  ctx: RoutedContext,
  { id, seen, onGone }: TaskStreamOptions,
): Promise<void> {
  const { tasks } = ctx.state;
  let waiting: (() => void)[] | null = [];
  const tellLater = (run: () => void): void => {
    if (waiting === null) run();
    else waiting.push(run);
  };
  const leave = tasks.watch(id, {
    onTask: (task) => tellLater(() => show(task)),
    onStep: (task) => tellLater(() => show(task)),
    onProgress: (progress) => {
      // Whoever joins is told what the model has said up to then as one.
      if (waiting !== null && seen === 'nothing' && progress.phase === 'token') return;
      tellLater(() => hear(progress));
    },
    onLost: () =>
      tellLater(() => {
        leave();
        stream.end();
      }),
  });
  const current = seen === 'start' ? undefined : await currentTask(tasks, id, leave);
  if (ctx.res.destroyed) return leave();
  let position = positionOf(seen, current);
  let shown: Task | null = null;
  // What a run does before its first state is on disk; that state is told first.
  let early: Progress[] = [];
  const stream = new EventStream(ctx, (why) => {
    leave();
    if (why === 'left') onGone?.();
  });
  const show = (task: Task): void => {
    if (shown !== null && task.revision < shown.revision) return;
    const isToldAnew = task.revision > position.revision && hasChanged(shown, task);
    if (task.revision > position.revision) position = { revision: task.revision, event: 0 };
    shown = task;
    const data = presentTask(task);
    const status = isToldAnew ? [{ id: `${position.revision}.0`, event: 'status', data }] : [];
    if (!isFinal(task.state)) {
      for (const event of status) stream.send(event);
      const first = early;
      early = [];
      return first.forEach(tell);
    }
    leave();
    const hasEnd = position.event > 0;
    stream.finish(
      hasEnd ? [] : [...status, { id: `${position.revision}.1`, event: 'result', data }],
    );
  };
  const tell = (progress: Progress): void => {
    position = { revision: Math.max(0, position.revision), event: position.event + 1 };
    const event = { id: `${position.revision}.${position.event}`, event: 'progress' };
    const { text } = progress;
    if (text === undefined) stream.send({ ...event, data: { task_id: id, ...progress } });
    else stream.sendText({ ...event, data: { task_id: id, ...progress, text } });
  };
  const hear = (progress: Progress): void => {
    if (shown === null) early.push(progress);
    else tell(progress);
  };
  // Whoever joins in the middle of a turn has not heard how it began.
  const text = seen === 'nothing' ? (tasks.spoken(id)?.pieces.join('') ?? '') : '';
  if (current !== undefined) show(current);
  if (text !== '') tell({ phase: 'token', text });
  const missed = waiting;
  waiting = null;
  for (const run of missed) run();
}

/** Reads the task that a client joins; whoever follows it leaves when it cannot be read. */
async function currentTask(
  tasks: RoutedContext['state']['tasks'],
  id: string,
  leave: () => void,
): Promise<Task | undefined> {
  try {
    return await tasks.find(id);
  } catch (error) {
    leave();
    throw error;
  }
}

/** Reads a `Last-Event-ID`; one of foreign format counts as having seen nothing. */
export function readSeen(lastEventId: string): Seen | 'nothing' {
  const [, revision, event] = /^(\d{1,15})\.(\d{1,9})$/.exec(lastEventId) ?? [];
  if (revision === undefined || event === undefined) return 'nothing';
  return { revision: Number(revision), event: Number(event) };
}

/** A client cannot have seen more than there is; one that says so has seen another store. */
function positionOf(seen: TaskStreamOptions['seen'], current: Task | undefined): Seen {
  const isOurs = typeof seen === 'object' && seen.revision <= (current?.revision ?? 0);
  return isOurs ? seen : { revision: -1, event: 0 };
}
