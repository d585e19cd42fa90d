import { describe, expect } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { conversationMachine } from '../../../../src/machines/channels/conversation-machine.ts';
import type { ConversationContext } from '../../../../src/machines/channels/conversation-setup.ts';
import { type Happenings, walkChart } from '../../../helpers/chart-walk.ts';
import { aTurn } from '../../../helpers/chat-thread.ts';
import { names as allNames, some, type World } from '../../../helpers/conversation-happenings.ts';
import { openConversation } from '../../../helpers/held-conversation.ts';

const outboxOf = ({ context }: AnyMachineSnapshot) =>
  (context as ConversationContext).outbox.map((each) =>
    each.kind === 'mark' ? each.mark : each.isLast,
  );

async function look({ store }: World, { value }: AnyMachineSnapshot): Promise<void> {
  if (Object.values(value).every((state) => state === 'over')) {
    expect(await store.conversations.open()).toEqual([]);
  }
}

const input = { turn: aTurn() };
const unheard = [
  'turn.idle',
  'turn.current.pausing',
  'turn.current.late',
  'turn.answering',
  'turn.over',
];

describe('the shortest paths of a conversation whose chat is fast', () => {
  const others: string[] = [
    'the chat breaks',
    'the chat refuses it',
    'the rest ends',
    'somebody says more',
  ];
  const names = allNames.filter((name) => !others.includes(name));
  walkChart(conversationMachine, some(...names), openConversation, {
    ...{ input, look, passing: ['turn.idle', 'voice.resting'] },
    fingerprint: (snapshot) => [snapshot.context.turns[0], outboxOf(snapshot)],
  });
});

describe('the shortest paths of a conversation whose chat fails', () => {
  const ofChat = some(
    'the chat takes it',
    'the chat breaks',
    'the chat refuses it',
    'the rest ends',
  );
  const passing = ['turn.idle', 'turn.current.pausing', 'turn.current.late'];
  walkChart(conversationMachine, { ...ofChat, ...some('the agent answers') }, openConversation, {
    ...{ input, look, passing, fingerprint: outboxOf },
  });
});

describe('the shortest path of a conversation whose chat accepts nothing', () => {
  const names = ['the chat breaks', 'the rest ends', 'the agent answers'] as const;
  walkChart(conversationMachine, some(...names), openConversation, {
    ...{ input, look, passing: ['turn.idle', 'turn.current.pausing', 'turn.current.late'] },
    fingerprint: (snapshot) => [snapshot.context.attempts, outboxOf(snapshot)],
  });
});

describe('the shortest paths of a conversation whose agent is not reachable', () => {
  const names = [
    'the chat takes it',
    'the agent is out of reach',
    'the connection breaks',
  ] as const;
  walkChart(conversationMachine, some(...names, 'the pause ends'), openConversation, {
    ...{ input, look, passing: ['turn.idle', 'turn.current.late', 'voice.resting'] },
    fingerprint: ({ context }) => context.asks,
  });
});

describe('the shortest paths of a conversation with further messages', () => {
  const names = ['the chat takes it', 'the agent answers', 'somebody says more'] as const;
  walkChart(conversationMachine, some(...names), openConversation, {
    ...{
      input,
      look,
      passing: ['turn.idle', 'turn.current.pausing', 'turn.current.late', 'voice.resting'],
    },
    fingerprint: (snapshot) => [snapshot.context.turns.length, outboxOf(snapshot)],
  });
});

describe('the shortest paths of a conversation that resumes late after a restart', () => {
  const names = ['the chat takes it', 'six minutes pass', 'the task ends'] as const;
  walkChart(conversationMachine, some(...names), (actors) => openConversation(actors, true), {
    ...{ input: { turn: { ...aTurn(), isLate: true } }, look },
    passing: ['turn.idle', 'turn.current.pausing', 'voice.resting'],
  });
});

describe('the shortest path of a conversation with too many messages', () => {
  const flood: Happenings<World> = {
    'somebody says more': {
      event: ({ context: { turns, outbox } }) => ({
        ...{ type: 'message.received', turn: aTurn({ id: `m-${turns.length}-${outbox.length}` }) },
      }),
      happen: async ({ sayMore }) => expect(await sayMore()).toBe(true),
    },
  };
  walkChart(conversationMachine, flood, openConversation, {
    input,
    fingerprint: ({ context: { turns, outbox } }) => [turns.length, outbox.length],
    passing: [...unheard, 'voice.silent', 'voice.resting', 'voice.over'],
    async look({ store, actors }) {
      const context = actors.at(-1)?.getSnapshot().context as ConversationContext;
      // One that must be repeated is open until that is sent; one of a flood is not.
      expect(await store.conversations.open()).toHaveLength(
        context.turns.length + Math.max(0, context.outbox.length - 1) / 2,
      );
    },
  });
});
