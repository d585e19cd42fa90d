import type { SystemError } from '../../actors/system-error.ts';
import { isFinal, type Task } from '../../machines/domain/task.ts';
import type { CallerTasks } from '../caller-tasks.ts';
import { HeardTurns, type SaidPiece } from './heard-turns.ts';

/** An item for a follower of a task: the task's state, or a piece of its model's output. */
export type Followed = { task: Task; said?: never } | { said: SaidPiece; task?: never };

/** Maximum number of buffered changes of a task; beyond it, the oldest is dropped. */
const maximumWaiting = 1_000;

/**
 * Yields a task now and after every change until it is final, and the model's output in between. Output received in one
 * turn of the event loop is combined, and output of a model turn that has ended by then is omitted. Ends when the
 * signal is aborted. Throws SystemError when the task can no longer be followed.
 */
export async function* followTask(
  tasks: CallerTasks,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<Followed, void, undefined> {
  const waiting: Task[] = [];
  const heard = new HeardTurns();
  let shown = -1;
  let said: SaidPiece | null = null;
  let listening: NodeJS.Immediate | null = null;
  let lost: Error | null = null;
  let wake: () => void = () => undefined;
  const take = (task: Task): void => {
    if (waiting.push(task) > maximumWaiting) waiting.shift();
    wake();
  };
  const hear = (): void => {
    listening = null;
    const turn = tasks.spoken(id);
    const piece = turn === undefined ? null : heard.next(turn);
    if (piece === null) return;
    said = said === null || piece.isFirst ? piece : { ...said, text: said.text + piece.text };
    wake();
  };
  const listen = (): void => {
    // The task itself is sent before any output.
    if (shown >= 0) listening ??= setImmediate(hear);
  };
  const leave = tasks.watch(id, {
    onTask: take,
    onStep: take,
    onProgress: ({ phase }) => {
      if (phase === 'token') listen();
    },
    onLost: (error) => {
      lost = error;
      wake();
    },
  });
  const abort = (): void => wake();
  signal.addEventListener('abort', abort);
  try {
    const first = await tasks.find(id);
    if (first !== undefined) waiting.splice(placeOf(first, waiting), 0, first);
    while (!signal.aborted) {
      if (said !== null) {
        const piece: SaidPiece = said;
        said = null;
        yield { said: piece };
        continue;
      }
      const task = waiting.shift();
      if (task !== undefined) {
        if (task.revision <= shown) continue;
        const isFirst = shown < 0;
        shown = task.revision;
        if (isFirst) listen();
        yield { task };
        if (isFinal(task.state)) return;
        continue;
      }
      if (lost !== null) throw lost as SystemError;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (signal.aborted || lost !== null || said !== null || waiting.length > 0) resolve();
      });
    }
  } finally {
    leave();
    if (listening !== null) clearImmediate(listening);
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Finds the position of a read task among the received changes. The store may be ahead of the first change received.
 */
function placeOf({ revision }: Task, heard: readonly Task[]): number {
  const later = heard.findIndex((task) => task.revision >= revision);
  return later === -1 ? heard.length : later;
}
