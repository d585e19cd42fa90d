import type { DoneActorEvent } from 'xstate';
import type { Deferral } from '../domain/task.ts';
import type { DecisionAttempt } from '../governance/approvers.ts';
import { type ProposedEdit, withApproval } from '../governance/decision.ts';
import { isShortOf, tightened } from '../governance/tightened.ts';
import { speakersIn } from './follow-up.ts';
import type { StartStanding, TaskEvent } from './task-events.ts';
import { pendingDeferral, type TaskContext } from './task-input.ts';

/** The arguments of an action or a guard. */
export interface Given<Event> {
  context: TaskContext;
  event: Event;
}

/** The arguments of an action or a guard for an event type of a task. */
export type On<Type extends TaskEvent['type']> = Given<Extract<TaskEvent, { type: Type }>>;

/** Names an action whose parameters are derived from the context. */
export function fromContext<Type extends string, Params>(
  type: Type,
  make: (context: TaskContext) => Params,
) {
  return { type, params: ({ context }: Given<unknown>) => make(context) };
}

/** Names an action whose parameters are derived from an invoked actor's output. */
export function fromOutput<Type extends string, Output, Params>(
  type: Type,
  make: (context: TaskContext, output: Output) => Params,
) {
  const params = ({ context, event }: Given<DoneActorEvent<Output>>) => make(context, event.output);
  return { type, params };
}

/** A decision attempt, and the deferral adjusted to the policy in force. */
export interface Trial {
  attempt: DecisionAttempt;
  deferral: Deferral;
  /** The arguments of the attempt; `null` for none. */
  edit: ProposedEdit | null;
  /** True if the stored ruling on the call is still valid, and the approvals suffice for the rule in force. */
  isRuled: () => boolean;
}

type Decide = On<'deferral.decide'>;

/** Names an action whose parameters are derived from a decision attempt under the policy in force. */
export function fromAttempt<Type extends string, Params>(
  type: Type,
  make: (context: TaskContext, attempt: DecisionAttempt, edit: ProposedEdit | null) => Params,
) {
  const params = (given: Decide) => {
    const { attempt, deferral, edit } = trialOf(given);
    return make({ ...given.context, deferral }, attempt, edit);
  };
  return { type, params };
}

/** Names an action whose parameters are derived from the event's time, in epoch milliseconds. */
export function fromTime<Type extends string, Params>(
  type: Type,
  make: (context: TaskContext, at: number) => Params,
) {
  return { type, params: ({ context, event }: Given<{ at: number }>) => make(context, event.at) };
}

/** Names an action or a guard whose parameter is an invoked actor's output. */
export function withOutput<Type extends string>(type: Type) {
  return { type, params: <Output>({ event }: { event: DoneActorEvent<Output> }) => event.output };
}

/** Names an action or a guard whose parameter is a decision attempt under the policy in force. */
export function withAttempt<Type extends string>(type: Type) {
  return { type, params: trialOf };
}

/** The guards and actions of a transition are given the same attempt and deferral. */
const trials = new WeakMap<Decide['event'], { of: Deferral; trial: Trial }>();

function trialOf({ context, event }: Decide): Trial {
  const of = pendingDeferral(context);
  const known = trials.get(event);
  if (known?.of === of) return known.trial;
  const { attempt, today = null, edit = null } = event;
  const askers = [context.run.requester, ...speakersIn(context)];
  const counted = { ...of, approvals: [...(event.approvals ?? of.approvals)] };
  const deferral = tightened(counted, today, askers);
  const isRuled = (): boolean => {
    const { approvals } = withApproval(deferral, attempt);
    return event.isRuled === true && !isShortOf(today, { ...of, approvals }, askers);
  };
  const trial = { attempt, deferral, edit, isRuled };
  trials.set(event, { of, trial });
  return trial;
}

/** Names an action or a guard whose parameter is the event's time, in epoch milliseconds. */
export function withTime<Type extends string>(type: Type) {
  return { type, params: ({ event }: { event: { at: number } }) => event.at };
}

/** Names a guard whose parameter is the standing of a start that is on disk. */
export function withStanding<Type extends string>(type: Type) {
  return { type, params: ({ event }: { event: { standing: StartStanding } }) => event.standing };
}

/** Names an action whose parameter is the reason of a cancel. */
export function withReason<Type extends string>(type: Type) {
  return { type, params: ({ event }: { event: { reason: string } }) => event.reason };
}
