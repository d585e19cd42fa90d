import { fromCallback, fromPromise, setup, stateIn } from 'xstate';
import { unfilledPort } from '../unfilled-port.ts';
import type { CardParts } from './agent-card.ts';

/** A file that the card is made from was written, added, renamed or removed. */
export type CardEvent = { type: 'files.changed' };

/** How long files are given to settle after a change, in milliseconds. */
export const settlingTime = 100;

/**
 * What becomes of a published card when its files change: it stays as it is until a new one can be made from all of
 * them (docs/contract/agent-card.md).
 */
export const cardMachine = setup({
  types: { events: {} as CardEvent },
  actors: {
    /** A port: sends `files.changed`. */
    watchFiles: fromCallback<CardEvent>(() => undefined),
    gatherParts: fromPromise<CardParts>(unfilledPort),
  },
  actions: {
    /** A port: shows the new card and records it. */
    publish: (_, _found: { parts: CardParts }) => undefined,
    /** A port: says why there is no new card. */
    noteBroken: (_, _failure: { error: unknown }) => undefined,
  },
  guards: { isOvertaken: stateIn({ gathering: 'overtaken' }) },
  delays: { settling: settlingTime },
}).createMachine({
  id: 'card',
  description:
    'Keeps the agent card true to the files it is made from. A change has them all read again, once they have settled; until that succeeds, and for as long as a file is broken, the last good card stays.',
  invoke: { src: 'watchFiles' },
  initial: 'published',
  states: {
    published: {
      description: 'The card says what the files say.',
      on: { 'files.changed': { target: 'stale' } },
    },
    stale: {
      description: 'A file has changed; more changes may follow at once.',
      after: { settling: 'gathering' },
      on: { 'files.changed': {} },
    },
    gathering: {
      description: 'All files are read again.',
      initial: 'current',
      invoke: {
        src: 'gatherParts',
        onDone: [
          {
            guard: 'isOvertaken',
            target: 'stale',
            actions: { type: 'publish', params: ({ event }) => ({ parts: event.output }) },
          },
          {
            target: 'published',
            actions: { type: 'publish', params: ({ event }) => ({ parts: event.output }) },
          },
        ],
        onError: [
          // It may have been read while it was being written.
          { guard: 'isOvertaken', target: 'stale' },
          {
            target: 'broken',
            actions: { type: 'noteBroken', params: ({ event }) => ({ error: event.error }) },
          },
        ],
      },
      states: {
        current: {
          description: 'Nothing has changed since the reading began.',
          on: { 'files.changed': { target: 'overtaken' } },
        },
        overtaken: {
          description: 'A file has changed meanwhile; they are read once more.',
          on: { 'files.changed': {} },
        },
      },
    },
    broken: {
      description: 'A file cannot be used; the last good card stays.',
      on: { 'files.changed': { target: 'stale' } },
    },
  },
});
