import type { PersonKey } from '../governance/same-person.ts';
import { messageSize } from './bound-history.ts';
import type { Deferral, FollowUp, HeldMessage, Message } from './task.ts';
import type { TaskContext } from './task-input.ts';
import { toldBefore } from './told-turns.ts';

/** How much may wait to be told to the model in one task; bytes are those of the messages as JSON. */
export const followUpBound = { bytes: 256 * 1024, messages: 20 } as const;

/**
 * Returns a message as it is kept while a call waits. The model hears of it after the results of all calls of
 * its last turn, however many of them are still to come.
 */
export function followUpOf(
  { exchanges, pending }: TaskContext,
  message: Message,
  sender: PersonKey | null,
): FollowUp {
  return { message: saidBy(message, sender), sender, after: exchanges.length + pending.length };
}

/** Tells whether no more can be kept for the model beside a message. */
export function isFull(context: TaskContext, message: Message): boolean {
  const waiting = context.followUps.filter((followUp) => !isHeard(context, followUp));
  const bytes = waiting.reduce((sum, one) => sum + messageSize(one.message), messageSize(message));
  return waiting.length >= followUpBound.messages || bytes > followUpBound.bytes;
}

/** Returns a deferral whose approvers are shown a message as well; the latest of them are kept. */
export function withMessage(deferral: Deferral, shown: HeldMessage | undefined): Deferral {
  if (shown === undefined) return deferral;
  const messages = [...(deferral.messages ?? []), shown].slice(-followUpBound.messages);
  return { ...deferral, messages };
}

/** Returns who has spoken to the model beside the requester before it asked for the present calls, in earlier runs too. */
export function speakersIn(context: TaskContext): (PersonKey | null)[] {
  const { run, followUps } = context;
  const earlier = [...run.session, ...run.history].map(({ sender }) => sender ?? null);
  const meanwhile = followUps.filter((followUp) => isHeard(context, followUp));
  return [...earlier, ...meanwhile.map(({ sender }) => sender)];
}

/** Returns a message with who said it, as a token or a chat establishes that. */
export function saidBy(message: Message, caller: PersonKey | null): Message {
  if (caller === null) return message;
  const { provider, userId, email } = caller;
  return {
    ...message,
    sender: { provider, userId, ...(email === undefined ? {} : { email }) },
  };
}

/** What the model was told before its last turn came before so many exchanges. */
function isHeard(context: TaskContext, { after }: FollowUp): boolean {
  return after <= toldBefore(context);
}
