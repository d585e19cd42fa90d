import { createActor, type EventObject, fromCallback, fromPromise } from 'xstate';
import { conversationMachine } from '../../src/machines/channels/conversation-machine.ts';
import type {
  Asked,
  HeldCall,
  Refusal,
  Spoken,
  Turn,
  TurnEnd,
  Utterance,
} from '../../src/machines/channels/turn.ts';
import { aTurn } from './chat-thread.ts';
import { ManualClock } from './manual-clock.ts';

/** A thread whose agent answers when a test says, and whose chat takes everything unless it says otherwise. */
export function startThread(
  first: Turn = aTurn(),
  chat: (said: string) => Spoken = () => delivered,
) {
  const clock = new ManualClock(0);
  const asked: string[] = [];
  const said: string[] = [];
  const kept: Turn[] = [];
  const closed: string[] = [];
  const unsaid: unknown[] = [];
  let asking: PromiseWithResolvers<Asked> | null = null;
  const followed: Turn[] = [];
  let isFollowed = false;
  const actor = createActor(
    conversationMachine.provide({
      actors: {
        ask: fromPromise<Asked, { turn: Turn }>(({ input: { turn } }) => {
          asked.push(turn.message.id);
          asking = Promise.withResolvers();
          return asking.promise;
        }),
        follow: fromCallback<EventObject, { turn: Turn }>(({ input: { turn } }) => {
          isFollowed = true;
          followed.push(turn);
          return () => {
            isFollowed = false;
          };
        }),
        speak: fromPromise<Spoken, { utterance: Utterance }>(async ({ input }) => {
          const words = shown(input.utterance);
          const spoken = chat(words);
          if (spoken.kind === 'delivered') said.push(words);
          return spoken;
        }),
      },
      actions: {
        keepTurn: (_, turn) => void kept.push(turn),
        closeTurn: (_, message) => void (message !== null && closed.push(message.id)),
        noteUnsaid: (_, { utterance, error }) => void unsaid.push([shown(utterance), error]),
      },
    }),
    { clock, input: { turn: first } },
  ).start();
  return {
    clock,
    asked,
    said,
    kept,
    closed,
    unsaid,
    state: () => (actor.getSnapshot().value as { turn: unknown }).turn,
    isOver: () => actor.getSnapshot().status === 'done',
    /** Each message whose task was followed, in its state then. */
    followed,
    isFollowed: () => isFollowed,
    async receive(...ids: string[]) {
      for (const id of ids) actor.send({ type: 'message.received', turn: aTurn({ id }) });
      await settle();
    },
    async answer(answer: Asked | Error) {
      if (answer instanceof Error) asking?.reject(answer);
      else asking?.resolve(answer);
      await settle();
    },
    async hold(call: HeldCall) {
      actor.send({ type: 'task.held', call });
      await settle();
    },
    async resume() {
      actor.send({ type: 'task.resumed' });
      await settle();
    },
    async end(end: TurnEnd) {
      actor.send({ type: 'task.ended', end });
      await settle();
    },
    async wait(milliseconds: number) {
      clock.advance(milliseconds);
      await settle();
    },
  };
}

export const delivered: Spoken = { kind: 'delivered' };
export const refund: HeldCall = { id: 'd-1', tool: 'issue_refund', to: 'channel:slack:refunds' };

export const completed = (text: string): Asked => ({
  kind: 'ended',
  end: { kind: 'completed', text },
});
export const refused = (refusal: Refusal, retryAfter: number | null = null): Asked => ({
  kind: 'refused',
  refusal,
  retryAfter,
});

export function shown(utterance: Utterance): string {
  const { id } = utterance.to;
  return utterance.kind === 'mark' ? `${id} [${utterance.mark}]` : `${id} ${utterance.markdown}`;
}

export async function settle() {
  for (let turn = 0; turn < 40; turn += 1) await Promise.resolve();
}
