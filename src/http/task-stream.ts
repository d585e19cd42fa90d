import type { Progress } from '../actors/tasks/tasks.ts';
import { isFinal, type Task } from '../machines/domain/task.ts';
import { hasChanged } from './has-changed.ts';
import type { RoutedContext } from './request-state.ts';
import { presentProgress } from './wire/progress.ts';
import { EventStream } from './wire/sse.ts';
import { presentTask } from './wire/task.ts';

/** A client's position in a task's stream: a task revision and the number of events since. */
export interface Seen {
  revision: number;
  event: number;
}

/** Settings of one client's stream. */
export interface TaskStreamOptions {
  id: string;
  /** The client's position; `nothing` for a client that joins, `start` for the client that started the task. */
  seen: Seen | 'nothing' | 'start';
  /** Called when the client disconnects before the task ends. */
  onGone?: () => void;
}

/**
 * Streams a task to one client until it is final: `status` for each change, `progress` between them, `result` at the
 * end (docs/contract/transports.md). An event ID is `<revision>.<n>`. A client that resumes with it receives the
 * changes since. A client that joins without it also receives the model's output so far in the current turn.
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
      // A joining client receives the model's earlier output in one piece.
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
  // Progress before the task's first state is on disk. The state is sent first.
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
    const data = presentProgress(id, progress);
    const { text } = data;
    if (text === undefined) stream.send({ ...event, data });
    else stream.sendText({ ...event, data: { ...data, text } });
  };
  const hear = (progress: Progress): void => {
    if (shown === null) early.push(progress);
    else tell(progress);
  };
  // A client that joins during a turn has not received the start of the turn.
  const text = seen === 'nothing' ? (tasks.spoken(id)?.pieces.join('') ?? '') : '';
  if (current !== undefined) show(current);
  if (text !== '') tell({ phase: 'token', text });
  const missed = waiting;
  waiting = null;
  for (const run of missed) run();
}

/** Reads the task that a client joins. Stops following if the task cannot be read. */
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

/** Parses `Last-Event-ID`; an ID in another format means `nothing`. */
export function readSeen(lastEventId: string): Seen | 'nothing' {
  const [, revision, event] = /^(\d{1,15})\.(\d{1,9})$/.exec(lastEventId) ?? [];
  if (revision === undefined || event === undefined) return 'nothing';
  return { revision: Number(revision), event: Number(event) };
}

/** A position beyond the current one belongs to another store. */
function positionOf(seen: TaskStreamOptions['seen'], current: Task | undefined): Seen {
  const isOurs = typeof seen === 'object' && seen.revision <= (current?.revision ?? 0);
  return isOurs ? seen : { revision: -1, event: 0 };
}
