import type { EventSourceMessage } from 'eventsource-parser';
import { type AnyEventObject, createActor, fromCallback } from 'xstate';
import {
  connectionMachine,
  type LinkEvent,
  type LinkInput,
  pauseAfter,
} from '../../machines/channels/connection-machine.ts';
import { messageOf } from '../../machines/message-of.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { AgentLine } from './agent-line.ts';

/** Maximum reconnection pause to an agent on this machine, in milliseconds. */
const longestPause = 5_000;

export interface FollowOptions {
  line: AgentLine;
  clock: Clock;
  log: Log;
  /** Called when the stream has started or restarted; earlier events may have been missed. */
  onUp: () => void;
  onDown: () => void;
  onEvent: (message: EventSourceMessage) => void;
}

/** Follows the events of an agent over `GET /events`, with reconnections. Returns a function that stops it. */
export function followAgent(options: FollowOptions): () => void {
  const { clock, log } = options;
  const actor = createActor(
    connectionMachine.provide({
      actors: { link: linkTo(options) },
      delays: {
        pause: ({ context }) => Math.min(longestPause, pauseAfter(context, Math.random())),
      },
    }),
    { clock },
  );
  actor.subscribe({
    error: (error) => log.error({ error }, 'workspace: an agent is not followed any more'),
  });
  actor.start();
  return () => {
    if (actor.getSnapshot().status === 'active') actor.send({ type: 'connection.close' });
    actor.stop();
  };
}

function linkTo({ line, onUp, onDown, onEvent }: FollowOptions) {
  return fromCallback<AnyEventObject, LinkInput>(({ input: { link }, sendBack }) => {
    const controller = new AbortController();
    const tell = (event: LinkEvent) => void (controller.signal.aborted || sendBack(event));
    const read = async (): Promise<void> => {
      const stream = line.events({
        method: 'GET',
        path: '/events',
        signal: controller.signal,
        onOpen: () => {
          tell({ type: 'link.up', link });
          onUp();
        },
      });
      for await (const message of stream) onEvent(message);
      throw new Error('the agent ended the stream');
    };
    read().catch((error: unknown) => {
      if (controller.signal.aborted) return;
      const message = messageOf(error);
      tell({ type: 'link.down', link, fault: { message, lasting: false, retryAfter: null } });
      onDown();
    });
    return () => controller.abort();
  });
}
