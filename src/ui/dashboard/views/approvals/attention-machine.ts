import { assign, setup } from 'xstate';
import type { DeferralJson } from '../../../../http/wire/dashboard/held-call-json.ts';
import { type News, newsOf } from './call-news.ts';

/** What of a shown call its reader has not seen. */
export interface Unseen {
  /** Number of edges that have not been visible. */
  edges: number;
  /** Keys of news all of whose edges have been visible. */
  seenNews: readonly string[];
}

export type AttentionEvent =
  | { type: 'call.read'; call: DeferralJson }
  | ({ type: 'looked' } & Unseen);

interface AttentionContext {
  /** The call as the person opened it. */
  opened: DeferralJson;
  /** Email of the person; empty if unknown. */
  me: string;
  news: readonly News[];
  /** Keys of news that have not been in view. */
  unread: readonly string[];
  /** Edges of the call that have not been visible; one before the first look. */
  edges: number;
}

const whenRead = {
  'call.read': [
    {
      guard: { type: 'hasNews', params: ({ event }: { event: { call: DeferralJson } }) => event },
      target: '.unread',
      actions: {
        type: 'noteCall',
        params: ({ event }: { event: { call: DeferralJson } }) => event,
      },
    },
    {
      actions: {
        type: 'noteCall',
        params: ({ event }: { event: { call: DeferralJson } }) => event,
      },
    },
  ],
} as const;

/**
 * What of an open call its reader has seen. A message, an approval or a change that arrives must have been in view for a
 * second before the call counts as seen again, because it may arrive just before a click.
 */
export const attentionMachine = setup({
  types: {
    context: {} as AttentionContext,
    events: {} as AttentionEvent,
    input: {} as { call: DeferralJson; me: string },
  },
  actions: {
    noteCall: assign(({ context }, { call }: { call: DeferralJson }) => {
      const news = newsOf(context.opened, call, context.me);
      const known = new Set(context.news.map(({ key }) => key));
      const come = news.flatMap(({ key }) => (known.has(key) ? [] : [key]));
      return { news, unread: [...context.unread, ...come] };
    }),
    noteLook: assign(({ context }, { edges, seenNews }: Unseen) => ({
      edges,
      unread: context.unread.filter((key) => !seenNews.includes(key)),
    })),
  },
  guards: {
    hasNews: ({ context }, { call }: { call: DeferralJson }) => {
      const known = new Set(context.news.map(({ key }) => key));
      return newsOf(context.opened, call, context.me).some(({ key }) => !known.has(key));
    },
    isSeen: ({ context: { edges, unread } }) => edges === 0 && unread.length === 0,
    isUnseen: ({ context: { edges, unread } }) => edges > 0 || unread.length > 0,
  },
  delays: { settling: 1_000 },
}).createMachine({
  id: 'attention',
  context: ({ input }) => ({ opened: input.call, me: input.me, news: [], unread: [], edges: 1 }),
  initial: 'reading',
  on: {
    ...whenRead,
    looked: { actions: { type: 'noteLook', params: ({ event }) => event } },
  },
  states: {
    reading: {
      description: 'A part of the call has not been visible.',
      always: { guard: 'isSeen', target: 'seen' },
    },
    unread: {
      description: 'Something arrived and has not been in view.',
      always: { guard: 'isSeen', target: 'settling' },
    },
    settling: {
      description: 'Everything is in view; a click meant for what was shown before may still come.',
      after: { settling: 'seen' },
      always: { guard: 'isUnseen', target: 'unread' },
    },
    seen: {
      description: 'The whole call and all that arrived have been visible.',
      tags: 'seen',
      always: { guard: 'isUnseen', target: 'reading' },
    },
  },
});
