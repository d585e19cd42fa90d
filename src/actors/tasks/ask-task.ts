import type { TaskEmitted, TaskEvent } from '../../machines/task/task-events.ts';
import type { TaskActor } from './live-task.ts';

type Answers = { [Emitted in TaskEmitted as Emitted['type']]: Emitted['answer'] };

/**
 * Sends an event to a task and returns its answer; `null` if there is none. `onAnswer` is called before the task is
 * saved.
 */
export function askTask<Type extends keyof Answers>(
  actor: TaskActor,
  event: TaskEvent,
  type: Type,
  onAnswer: (answer: Answers[Type]) => void = () => undefined,
): Answers[Type] | null {
  let answered: Answers[Type] | null = null;
  const listening = actor.on(type, ({ answer }) => {
    answered = answer as Answers[Type];
    onAnswer(answered);
  });
  actor.send(event);
  listening.unsubscribe();
  return answered;
}
