import type { Progress, SpokenTurn, Subscriber } from '../../actors/tasks/tasks.ts';
import { isFinal, type Task } from '../../machines/domain/task.ts';
import type { CallerTasks } from '../caller-tasks.ts';

/** A piece of a model's output. `isFirst` is true for the first piece of a turn. */
interface SaidPiece {
  text: string;
  isFirst: boolean;
}

/** Matches an empty piece, and a piece that ends inside a surrogate pair. */
const isUnfinished = /(^|[\uD800-\uDBFF])$/;

/** Reads the output of model turns incrementally. */
export class HeardTurns {
  #turn: SpokenTurn | null = null;
  #read = 0;

  /**
   * Returns the output of a turn that was not returned before; `null` if there is none. A piece that ends inside a
   * character waits for the next one.
   */
  next(turn: SpokenTurn): SaidPiece | null {
    const isFirst = turn !== this.#turn;
    const from = isFirst ? 0 : this.#read;
    let until = turn.pieces.length;
    while (until > from && isUnfinished.test(turn.pieces[until - 1] ?? '')) until -= 1;
    if (until === from) return null;
    this.#turn = turn;
    this.#read = until;
    return { text: turn.pieces.slice(from, until).join('').toWellFormed(), isFirst };
  }
}

/** An item for a follower of a task: the task's state, or a piece of its model's output. */
export type Followed = { task: Task; said?: never } | { said: SaidPiece; task?: never };

/** Maximum number of buffered changes of a task; beyond it, the oldest is dropped. */
const maximumWaiting = 1_000;

/** Follows a task for one client. It may subscribe before the task starts, and then yields every state. */
export class TaskFollower implements Subscriber {
  readonly #tasks: CallerTasks;
  /** States to yield. */
  readonly #waiting: Task[] = [];
  /** The state yielded last. */
  #shown: Task | null = null;
  readonly #turns = new HeardTurns();
  /** The scheduled read of the running turn. */
  #reading: NodeJS.Immediate | null = null;
  /** Output to yield. */
  #said: SaidPiece | null = null;
  #lost: Error | null = null;
  #wake: () => void = () => undefined;

  constructor(tasks: CallerTasks) {
    this.#tasks = tasks;
  }

  /**
   * Yields a task now and after every change until it is final, and the model's output in between. Output received in
   * one turn of the event loop is combined, and output of a model turn that has ended by then is omitted. Ends when the
   * signal is aborted. Throws SystemError when the task can no longer be followed.
   */
  async *follow(id: string, signal: AbortSignal): AsyncGenerator<Followed, void, undefined> {
    const leave = this.#tasks.watch(id, this);
    const abort = (): void => this.#wake();
    signal.addEventListener('abort', abort);
    try {
      const first = await this.#tasks.find(id);
      if (first !== undefined) this.#waiting.splice(placeOf(first, this.#waiting), 0, first);
      while (!signal.aborted) {
        const next = this.#next();
        if (next !== null) yield next;
        if (next?.task !== undefined && isFinal(next.task.state)) return;
        if (next !== null) continue;
        if (this.#lost !== null) throw this.#lost;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      leave();
      if (this.#reading !== null) clearImmediate(this.#reading);
      signal.removeEventListener('abort', abort);
    }
  }

  onTask(task: Task): void {
    if (this.#waiting.push(task) > maximumWaiting) this.#waiting.shift();
    this.#wake();
  }

  onStep(task: Task): void {
    this.onTask(task);
  }

  onProgress({ phase }: Progress): void {
    if (phase === 'token') this.#scheduleRead();
  }

  onLost(error: Error): void {
    this.#lost = error;
    this.#wake();
  }

  #next(): Followed | null {
    const said = this.#said;
    this.#said = null;
    if (said !== null) return { said };
    for (;;) {
      const task = this.#waiting.shift();
      if (task === undefined) return null;
      const shown = this.#shown;
      if (shown !== null && task.revision <= shown.revision) continue;
      this.#shown = task;
      if (shown === null) this.#scheduleRead();
      return { task };
    }
  }

  /** Output follows the task itself. */
  #scheduleRead(): void {
    const id = this.#shown?.id;
    if (id !== undefined) this.#reading ??= setImmediate(() => this.#read(id));
  }

  #read(id: string): void {
    this.#reading = null;
    const turn = this.#tasks.spoken(id);
    const piece = turn === undefined ? null : this.#turns.next(turn);
    if (piece === null) return;
    const before = piece.isFirst ? null : this.#said;
    this.#said = before === null ? piece : { ...before, text: before.text + piece.text };
    this.#wake();
  }
}

/**
 * Finds the position of a read task among the received changes. The store may be ahead of the first change received.
 */
function placeOf({ revision }: Task, heard: readonly Task[]): number {
  const later = heard.findIndex((task) => task.revision >= revision);
  return later === -1 ? heard.length : later;
}
