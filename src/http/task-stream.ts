import type { Progress, Subscriber } from '../actors/tasks/tasks.ts';
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

type Change = { task: Task } | { progress: Progress } | { error: Error };

/**
 * Streams a task to one client until it is final: `status` for each change, `progress` between them, `result` at the
 * end (docs/contract/transports.md). An event ID is `<revision>.<n>`. `start` or `join` opens the stream; changes
 * received earlier are sent then.
 */
export class TaskStream implements Subscriber {
  readonly #ctx: RoutedContext;
  /** `null` until the stream is open. */
  #events: EventStream | null = null;
  /** Changes to send later, in order: every change until the stream is open, then progress until the first state. */
  #waiting: Change[] = [];
  /** The last state received by the open stream. */
  #shown: Task | null = null;
  /** The position of the last event; at first, the position from which the client resumes. */
  #position: Seen = { revision: -1, event: 0 };
  #leave: () => void = () => undefined;

  constructor(ctx: RoutedContext) {
    this.#ctx = ctx;
  }

  /**
   * Streams a task that was opened with this subscriber. `onGone` is called if the client disconnects before the task
   * ends.
   */
  start(id: string, onGone?: () => void): void {
    this.#leave = this.#ctx.state.tasks.watch(id, this);
    this.#open(onGone);
  }

  /**
   * Streams a task that exists. A client that resumes receives the changes since its position. A client that joins
   * receives the state, then the model's output so far in the current turn. Rejects if the task cannot be read.
   */
  async join(id: string, seen: Seen | 'nothing'): Promise<void> {
    const { tasks } = this.#ctx.state;
    this.#leave = tasks.watch(id, this);
    const current = await tasks.find(id).catch((error: unknown) => {
      this.#leave();
      throw error;
    });
    if (seen === 'nothing') {
      const text = tasks.spoken(id)?.pieces.join('') ?? '';
      // The text includes the pieces received meanwhile.
      this.#waiting = this.#waiting.filter((change) => !isToken(change));
      if (text !== '') this.#waiting.unshift({ progress: { phase: 'token', text } });
    } else if (seen.revision <= (current?.revision ?? 0)) {
      // A position beyond the current one belongs to another store.
      this.#position = seen;
    }
    if (current !== undefined) this.#waiting.unshift({ task: current });
    this.#open();
  }

  onTask(task: Task): void {
    this.#receive({ task });
  }

  onStep(task: Task): void {
    this.#receive({ task });
  }

  onProgress(progress: Progress): void {
    this.#receive({ progress });
  }

  onLost(error: Error): void {
    this.#receive({ error });
  }

  #open(onGone?: () => void): void {
    if (this.#ctx.res.destroyed) return this.#leave();
    this.#events = new EventStream(this.#ctx, (why) => {
      this.#leave();
      if (why === 'left') onGone?.();
    });
    this.#receiveWaiting();
  }

  #receiveWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const change of waiting) this.#receive(change);
  }

  #receive(change: Change): void {
    const events = this.#events;
    if (events === null) this.#waiting.push(change);
    else if ('task' in change) this.#sendTask(events, change.task);
    else if ('error' in change) {
      this.#leave();
      events.end();
    } else if (this.#shown === null) this.#waiting.push(change);
    else this.#sendProgress(events, this.#shown.id, change.progress);
  }

  #sendTask(events: EventStream, task: Task): void {
    const shown = this.#shown;
    if (shown !== null && task.revision < shown.revision) return;
    this.#shown = task;
    const isNew = task.revision > this.#position.revision;
    if (isNew) this.#position = { revision: task.revision, event: 0 };
    const { revision, event } = this.#position;
    const data = presentTask(task);
    const status =
      isNew && hasChanged(shown, task) ? [{ id: `${revision}.0`, event: 'status', data }] : [];
    if (isFinal(task.state)) {
      this.#leave();
      const result = { id: `${revision}.1`, event: 'result', data };
      const hasResult = event > 0;
      return events.finish(hasResult ? [] : [...status, result]);
    }
    for (const sent of status) events.send(sent);
    this.#receiveWaiting();
  }

  #sendProgress(events: EventStream, id: string, progress: Progress): void {
    const { revision, event: before } = this.#position;
    const event = before + 1;
    this.#position = { revision, event };
    const sent = { id: `${revision}.${event}`, event: 'progress' };
    const { text, ...data } = presentProgress(id, progress);
    if (text === undefined) events.send({ ...sent, data });
    else events.sendText({ ...sent, data: { ...data, text } });
  }
}

function isToken(change: Change): boolean {
  return 'progress' in change && change.progress.phase === 'token';
}

/** Parses `Last-Event-ID`; an ID in another format means `nothing`. */
export function readSeen(lastEventId: string): Seen | 'nothing' {
  const [, revision, event] = /^(\d{1,15})\.(\d{1,9})$/.exec(lastEventId) ?? [];
  if (revision === undefined || event === undefined) return 'nothing';
  return { revision: Number(revision), event: Number(event) };
}
