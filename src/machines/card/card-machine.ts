import { fromCallback, fromPromise, setup, stateIn } from 'xstate';
import { unfilledPort } from '../unfilled-port.ts';
import type { CardParts } from './agent-card.ts';

/** A source file of the card was written, added, renamed or removed. */
export type CardEvent = { type: 'files.changed' };

/** Delay in milliseconds for files to settle after a change. */
export const settlingTime = 100;

/**
 * The lifecycle of a published card. When its files change, the card stays as it is until a new one can be built from
 * all of them (docs/contract/agent-card.md).
 */
export const cardMachine = setup({
  types: { events: {} as CardEvent },
  actors: {
    /** Port: sends `files.changed`. */
    watchFiles: fromCallback<CardEvent>(() => undefined),
    gatherParts: fromPromise<CardParts>(unfilledPort),
  },
  actions: {
    /** Port: publishes the new card and records it. */
    publish: (_, _found: { parts: CardParts }) => undefined,
    /** Port: reports why there is no new card. */
    noteBroken: (_, _failure: { error: unknown }) => undefined,
  },
  guards: { isOvertaken: stateIn({ gathering: 'overtaken' }) },
  delays: { settling: settlingTime },
}).createMachine({
  id: 'card',
  description:
    'Keeps the agent card up to date with its files. A change reloads all of them once they are stable; until that succeeds the last good card stays.',
  invoke: { src: 'watchFiles' },
  initial: 'published',
  states: {
    published: {
      description: 'The card matches the files.',
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
          // A file may have been read while it was being written.
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
