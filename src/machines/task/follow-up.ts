import type { Deferral, FollowUp, HeldMessage, Message } from '../domain/task.ts';
import { editorsOf } from '../governance/decision.ts';
import type { PersonKey } from '../governance/same-person.ts';
import { messageSize } from './bound-history.ts';
import type { TaskContext } from './task-input.ts';
import { toldBefore } from './told-turns.ts';

/** Limits of the messages waiting for the model in one task; bytes are counted on the messages as JSON. */
export const followUpBound = { bytes: 256 * 1024, messages: 20 } as const;

/**
 * Returns a message as stored while a call is held. The model receives it after the results of all calls of its last
 * turn, including the calls still to run.
 */
export function followUpOf(
  { exchanges, pending }: TaskContext,
  message: Message,
  sender: PersonKey | null,
): FollowUp {
  return { message: saidBy(message, sender), sender, after: exchanges.length + pending.length };
}

/** Returns true if no further message can be stored for the model. */
export function isFull(context: TaskContext, message: Message): boolean {
  const waiting = context.followUps.filter((followUp) => !isHeard(context, followUp));
  const bytes = waiting.reduce((sum, one) => sum + messageSize(one.message), messageSize(message));
  return waiting.length >= followUpBound.messages || bytes > followUpBound.bytes;
}

/** Returns a deferral with a message added for its approvers; keeps only the latest messages. */
export function withMessage(deferral: Deferral, shown: HeldMessage | undefined): Deferral {
  if (shown === undefined) return deferral;
  const messages = [...(deferral.messages ?? []), shown].slice(-followUpBound.messages);
  return { ...deferral, messages };
}

/**
 * Returns the people other than the requester who contributed to the current call: their messages reached the model
 * before it requested the call, in this run or an earlier one, or they changed its arguments.
 */
export function speakersIn(context: TaskContext): (PersonKey | null)[] {
  const { run, followUps } = context;
  const earlier = [...run.session, ...run.history].map(({ sender }) => sender ?? null);
  const meanwhile = followUps.filter((followUp) => isHeard(context, followUp));
  const editors = editorsOf(context.pending[0]?.edits);
  return [...earlier, ...meanwhile.map(({ sender }) => sender), ...editors];
}

/** Returns a message with its sender, as established by a token or a chat. */
export function saidBy(message: Message, caller: PersonKey | null): Message {
  if (caller === null) return message;
  const { provider, userId, email } = caller;
  return {
    ...message,
    sender: { provider, userId, ...(email === undefined ? {} : { email }) },
  };
}

/** A message counts as received if it precedes the exchanges of the model's last turn. */
function isHeard(context: TaskContext, { after }: FollowUp): boolean {
  return after <= toldBefore(context);
}
