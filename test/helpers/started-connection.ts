import { type AnyEventObject, createActor, fromCallback } from 'xstate';
import {
  connectionMachine,
  connectionState,
  type LinkEvent,
  type LinkFault,
  type LinkInput,
} from '../../src/machines/channels/connection-machine.ts';
import { ManualClock } from './manual-clock.ts';

export const passing: LinkFault = { message: 'the line broke', lasting: false, retryAfter: null };
export const lasting: LinkFault = {
  message: 'the token was revoked',
  lasting: true,
  retryAfter: null,
};

/** A service whose links do what a test says. */
export function startConnection() {
  const clock = new ManualClock(0);
  const opened: string[] = [];
  const open = new Map<string, (event: LinkEvent) => void>();
  const told: string[] = [];
  const states: string[] = [];
  const actor = createActor(
    connectionMachine.provide({
      actors: {
        link: fromCallback<AnyEventObject, LinkInput>(({ input: { link }, sendBack }) => {
          opened.push(link);
          open.set(link, sendBack);
          return () => void open.delete(link);
        }),
      },
      actions: { noteFault: ({ context }) => void told.push(context.fault?.message ?? 'no fault') },
    }),
    { clock },
  );
  actor.subscribe(({ value }) => {
    const state = connectionState(value);
    if (states.at(-1) !== state) states.push(state);
  });
  actor.start();
  return {
    clock,
    opened,
    open,
    told,
    states,
    state: () => connectionState(actor.getSnapshot().value),
    context: () => actor.getSnapshot().context,
    failures: () => actor.getSnapshot().context.failures,
    live: () => [...open.keys()],
    tell: (event: LinkEvent) => actor.send(event),
    up: (link: string) => actor.send({ type: 'link.up', link }),
    leaving: (link: string) => actor.send({ type: 'link.leaving', link }),
    down: (link: string, fault = passing) => actor.send({ type: 'link.down', link, fault }),
    close: () => actor.send({ type: 'connection.close' }),
  };
}
