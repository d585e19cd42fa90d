import type { SystemError } from '../../actors/system-error.ts';
import type { SpokenTurn } from '../../actors/tasks/tasks.ts';
import { isFinal, type Task } from '../../machines/task/task.ts';
import type { CallerTasks } from '../caller-tasks.ts';
import { HeardTurns, type SaidPiece } from './heard-turns.ts';

/** What who follows a task hears: how it stands, or what its model says meanwhile. */
export type Followed = { task: Task; said?: never } | { said: SaidPiece; task?: never };

/** Changes of a task that may wait to be read; beyond them the oldest gives way. */
const maximumWaiting = 1_000;

/**
 * Yields a task now and after every change, until it is final, and between them what its model says: all that came in one
 * turn of the event loop at once, and nothing of a turn that has ended by then. Ends when the signal is
 * aborted; throws SystemError when the task can no longer be followed.
 */
export async function* followTask(
  tasks: CallerTasks,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<Followed, void, undefined> {
  const waiting: Task[] = [];
  const heard = new HeardTurns();
  let shown = -1;
  let turn: SpokenTurn | undefined;
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
    const piece = turn === undefined ? null : heard.next(turn);
    if (piece === null) return;
    said = said === null || piece.isFirst ? piece : { ...said, text: said.text + piece.text };
    wake();
  };
  const listen = (): void => {
    // The task itself is told first.
    if (shown >= 0) listening ??= setImmediate(hear);
  };
  const leave = tasks.watch(id, {
    onTask: take,
    onStep: take,
    onSpoken: (spoken) => {
      turn = spoken;
      listen();
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
        if (isFirst) {
          turn ??= tasks.spoken(id);
          listen();
        }
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

/** Finds where a task that was read belongs among what was heard meanwhile: the store may know more than was told first. */
function placeOf({ revision }: Task, heard: readonly Task[]): number {
  const later = heard.findIndex((task) => task.revision >= revision);
  return later === -1 ? heard.length : later;
}
