import { expect, vi } from 'vitest';
import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import { DeliveryError } from '../../src/actors/channels/channel-adapter.ts';
import type { ConversationContext } from '../../src/machines/channels/conversation-setup.ts';
import type { Happening, Happenings } from './chart-walk.ts';
import { aTurn } from './chat-thread.ts';
import { heldCall, type openConversation } from './held-conversation.ts';
import { passPause } from './pass-pause.ts';
import { patient } from './patient.ts';

const soon = { ...patient, interval: 3 };

/** A thread, the agent and the chat behind it. */
export type World = Awaited<ReturnType<typeof openConversation>>;

const current = (snapshot: AnyMachineSnapshot) => snapshot.matches({ turn: 'current' });
const isIn = (state: string) => (snapshot: AnyMachineSnapshot) =>
  snapshot.matches({ turn: { current: state } }) && isQuiet(snapshot);
const isSpeaking = (snapshot: AnyMachineSnapshot) => snapshot.matches({ voice: 'speaking' });
/** The chat is quick where nothing is said of it. */
const isQuiet = (snapshot: AnyMachineSnapshot) => snapshot.matches({ voice: 'silent' });
const isHeld = ({ context }: AnyMachineSnapshot) => context.turns[0]?.heldId === heldCall.id;
const lastMark = ({ context }: AnyMachineSnapshot) => {
  const { outbox } = context as ConversationContext;
  return outbox.flatMap((each) => (each.kind === 'mark' ? [each.mark] : [])).at(-1);
};

const asking = 'actor.0.conversation.turn.current.asking';
const asked = (output: object) => ({ type: `xstate.done.${asking}`, output });
const refused = (refusal: string, retryAfter: number | null = null) =>
  asked({ kind: 'refused', refusal, retryAfter });
const spoken = (output: object) => ({
  type: 'xstate.done.actor.0.conversation.voice.speaking',
  output,
});
const unsaid = (isPassing: boolean) =>
  spoken({ kind: 'failed', isPassing, retryAfter: null, error: null });
const after = (delay: string, state: string) => ({
  type: `xstate.after.${delay}.conversation.${state}`,
});
const done = { state: 'completed', text: 'done' };

const said = {
  'the chat takes it': {
    event: spoken({ kind: 'delivered' }),
    in: isSpeaking,
    happen: ({ chat }) => chat.take(),
  },
  'the chat breaks': {
    event: unsaid(true),
    in: isSpeaking,
    happen: ({ chat }) => chat.take(new DeliveryError('it is busy', { fault: 'later' })),
  },
  'the chat refuses it': {
    event: unsaid(false),
    in: isSpeaking,
    async happen({ chat, log }) {
      const before = log.length;
      await chat.take(new DeliveryError('not in the channel', { fault: 'target' }));
      await vi.waitFor(() => expect(log).toHaveLength(before + 1), patient);
    },
  },
  'the rest ends': {
    event: after('speakRest', 'voice.resting'),
    in: (snapshot) => snapshot.matches({ voice: 'resting' }),
    happen: ({ clock, actors }) => passPause(clock, actors),
  },
  'the agent answers': {
    event: asked({ kind: 'ended', end: { kind: 'completed', text: 'done' } }),
    in: isIn('asking'),
    async happen({ asked, leaveTask, taskOf }) {
      await leaveTask();
      (await asked()).end(taskOf(done));
    },
  },
  'the agent is at work': {
    event: asked({ kind: 'running' }),
    in: isIn('asking'),
    // The chart receives it and does nothing.
    async happen({ actors, asked, taskOf }) {
      const [asker] = Object.entries(actors.at(-1)?.getSnapshot().children as object)
        .filter(([name]) => name.endsWith('asking'))
        .map(([, actor]) => actor as AnyActorRef);
      (await asked()).end(taskOf({ state: 'working' }));
      await vi.waitFor(() => expect(asker?.getSnapshot().status).toBe('done'), soon);
    },
  },
  'the agent is out of reach': {
    event: refused('unavailable'),
    in: isIn('asking'),
    happen: async ({ asked }) => void (await asked()).writeHead(502).end(),
  },
  'the connection breaks': {
    event: { type: `xstate.error.${asking}`, error: new Error('it') },
    in: isIn('asking'),
    happen: async ({ asked }) => void (await asked()).destroy(),
  },
  'the agent asks for an hour': {
    event: refused('limited', 3_600_000),
    in: isIn('asking'),
    async happen({ asked, leaveTask }) {
      await leaveTask();
      (await asked()).writeHead(429, { 'retry-after': '3600' }).end();
    },
  },
  'the agent refuses the sign-in': {
    event: refused('unauthorized'),
    in: isIn('asking'),
    async happen({ asked, leaveTask }) {
      await leaveTask();
      (await asked()).writeHead(401).end();
    },
  },
  'the pause ends': {
    event: after('askPause', 'turn.current.pausing'),
    in: isIn('pausing'),
    happen: ({ clock, actors }) => passPause(clock, actors),
  },
  'six minutes pass': {
    event: after('answerWindow', 'turn.current.asking'),
    in: isIn('asking'),
    async happen({ asked, clock, actors, isKnown }) {
      if (!isKnown) await asked();
      passPause(clock, actors);
    },
  },
  'a call waits': {
    event: { type: 'task.held', call: heldCall },
    in: (snapshot) => current(snapshot) && !isHeld(snapshot),
    happen: ({ tell }) => tell({ state: 'deferred', isHeld: true }),
  },
  'the task goes on before the chat knows': {
    event: { type: 'task.resumed' },
    in: (snapshot) => current(snapshot) && lastMark(snapshot) === 'waiting',
    happen: ({ tell }) => tell({ state: 'working' }),
  },
  'the call waits again': {
    event: { type: 'task.held', call: heldCall },
    in: (snapshot) => current(snapshot) && isHeld(snapshot) && lastMark(snapshot) === 'working',
    happen: ({ tell }) => tell({ state: 'deferred', isHeld: true }),
  },
  'the task ends': {
    event: { type: 'task.ended', end: { kind: 'completed', text: 'done' } },
    in: (snapshot) => current(snapshot) && isQuiet(snapshot),
    async happen({ actors, asked, isKnown, tell, leaveTask }) {
      const isAsking = actors
        .at(-1)
        ?.getSnapshot()
        .matches({ turn: { current: 'asking' } });
      if (isAsking === true && !isKnown) await asked();
      await tell(done);
      await leaveTask();
    },
  },
  'somebody says more': {
    event: { type: 'message.received', turn: aTurn({ id: 'm-2' }) },
    in: ({ context, status }) => status === 'active' && context.turns.length < 2,
    happen: async ({ sayMore }) => expect(await sayMore()).toBe(true),
  },
} satisfies Happenings<World>;

/** What can happen in a thread. */
export type Name = keyof typeof said;

export const names = Object.keys(said) as Name[];

/** Returns the happenings of these names, each over once the chart has heard of it. */
export function some(...names: Name[]): Happenings<World> {
  const heard = names.map((name) => {
    const { happen, ...happening }: Happening<World> = said[name];
    const andHeard = async (world: World) => {
      const standing = () => world.actors.at(-1)?.getSnapshot();
      const before = standing();
      await happen(world);
      if (name === 'the agent is at work') return;
      await vi.waitFor(() => expect(standing()).not.toBe(before), soon);
    };
    return [name, { ...happening, happen: andHeard }];
  });
  return Object.fromEntries(heard);
}
