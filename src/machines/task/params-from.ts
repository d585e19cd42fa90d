import type { DoneActorEvent } from 'xstate';
import type { DecisionAttempt } from '../governance/approvers.ts';
import type { StartStanding, TaskEvent } from './task-events.ts';
import type { TaskContext } from './task-input.ts';

/** What an action or a guard is given. */
export interface Given<Event> {
  context: TaskContext;
  event: Event;
}

/** What an action or a guard is given when a task hears an event of a type. */
export type On<Type extends TaskEvent['type']> = Given<Extract<TaskEvent, { type: Type }>>;

/** Names an action whose parameters follow from what the task knows. */
export function fromContext<Type extends string, Params>(
  type: Type,
  make: (context: TaskContext) => Params,
) {
  return { type, params: ({ context }: Given<unknown>) => make(context) };
}

/** Names an action whose parameters follow from what an invoked actor ended with. */
export function fromOutput<Type extends string, Output, Params>(
  type: Type,
  make: (context: TaskContext, output: Output) => Params,
) {
  const params = ({ context, event }: Given<DoneActorEvent<Output>>) => make(context, event.output);
  return { type, params };
}

/** Names an action whose parameters follow from an attempt to decide. */
export function fromAttempt<Type extends string, Params>(
  type: Type,
  make: (context: TaskContext, attempt: DecisionAttempt) => Params,
) {
  const params = ({ context, event }: Given<{ attempt: DecisionAttempt }>) =>
    make(context, event.attempt);
  return { type, params };
}

/** Names an action whose parameters follow from when something happened, in epoch milliseconds. */
export function fromTime<Type extends string, Params>(
  type: Type,
  make: (context: TaskContext, at: number) => Params,
) {
  return { type, params: ({ context, event }: Given<{ at: number }>) => make(context, event.at) };
}

/** Names an action or a guard that is given what an invoked actor ended with. */
export function withOutput<Type extends string>(type: Type) {
  return { type, params: <Output>({ event }: { event: DoneActorEvent<Output> }) => event.output };
}

/** Names an action or a guard that is given an attempt to decide. */
export function withAttempt<Type extends string>(type: Type) {
  return { type, params: ({ event }: { event: { attempt: DecisionAttempt } }) => event.attempt };
}

/** Names an action or a guard that is given when something happened, in epoch milliseconds. */
export function withTime<Type extends string>(type: Type) {
  return { type, params: ({ event }: { event: { at: number } }) => event.at };
}

/** Names a guard that is given the standing of a start that is on disk. */
export function withStanding<Type extends string>(type: Type) {
  return { type, params: ({ event }: { event: { standing: StartStanding } }) => event.standing };
}

/** Names an action that is given why somebody calls the task off. */
export function withReason<Type extends string>(type: Type) {
  return { type, params: ({ event }: { event: { reason: string } }) => event.reason };
}
