import { assign, fromPromise, setup, stateIn } from 'xstate';
import type {
  ConfigChangedJson,
  ConfigCheckJson,
  ConfigJson,
} from '../../../../http/wire/dashboard/config-json.ts';
import { sentenceOf } from '../../api/sentence-of.ts';

/** The result of a save. */
export type SaveOutcome =
  | { kind: 'saved'; config: ConfigJson }
  | { kind: 'invalid'; check: ConfigCheckJson }
  | { kind: 'changed'; now: ConfigChangedJson };

export type ConfigEvent =
  | { type: 'text.changed'; text: string }
  | { type: 'save.asked' }
  | { type: 'mine.kept' }
  | { type: 'theirs.taken' }
  | { type: 'read.asked' };

interface ConfigContext {
  /** The text as last loaded or saved. */
  saved: ConfigJson | null;
  text: string;
  /** The server's validation of the text, or of a string that it refused to save. */
  check: ConfigCheckJson | null;
  /** A version saved by another client in the meantime. */
  theirs: ConfigChangedJson | null;
  problem: string | null;
  /** True if the agent still runs with the previous configuration. */
  restart: boolean;
}

/**
 * The text of one agent's `service.yaml`. It is validated after a pause in typing, and saved only over the version it
 * was loaded from.
 */
export const configMachine = setup({
  types: { context: {} as ConfigContext, events: {} as ConfigEvent },
  actors: {
    /** Like all ports here, rejects with an error whose message is a sentence. */
    read: fromPromise<ConfigJson>(() => Promise.reject(new Error('unread'))),
    check: fromPromise<ConfigCheckJson, { text: string }>(() =>
      Promise.reject(new Error('unread')),
    ),
    save: fromPromise<SaveOutcome, { text: string; etag: string }>(() =>
      Promise.reject(new Error('unsaved')),
    ),
  },
  actions: {
    noteText: assign((_, { text }: { text: string }) => ({ text })),
    noteRead: assign((_, saved: ConfigJson) => ({
      saved,
      text: saved.content,
      check: null,
      theirs: null,
      problem: null,
    })),
    noteCheck: assign((_, { check }: { check: ConfigCheckJson }) => ({ check, problem: null })),
    noteSaved: assign((_, { config }: { config: ConfigJson }) => ({
      saved: config,
      theirs: null,
      problem: null,
      restart: true,
    })),
    noteTheirs: assign((_, { now }: { now: ConfigChangedJson }) => ({
      theirs: now,
      problem: null,
    })),
    /** The next save overwrites the other client's version. */
    keepMine: assign(({ context: { saved, theirs } }) =>
      saved === null || theirs === null
        ? {}
        : { saved: { ...saved, content: theirs.content, etag: theirs.etag }, theirs: null },
    ),
    takeTheirs: assign(({ context: { saved, theirs } }) =>
      saved === null || theirs === null
        ? {}
        : {
            saved: { ...saved, content: theirs.content, etag: theirs.etag },
            text: theirs.content,
            theirs: null,
            check: null,
          },
    ),
    noteProblem: assign((_, { error }: { error: unknown }) => ({
      problem: sentenceOf(error),
    })),
  },
  guards: {
    wasSaved: (_, { kind }: SaveOutcome) => kind === 'saved',
    wasConflict: (_, { kind }: SaveOutcome) => kind === 'changed',
    isChanged: ({ context }) => isChanged(context),
  },
  delays: { typing: 400 },
}).createMachine({
  id: 'config',
  context: { saved: null, text: '', check: null, theirs: null, problem: null, restart: false },
  initial: 'reading',
  states: {
    reading: {
      invoke: {
        src: 'read',
        onDone: {
          target: 'editing',
          actions: { type: 'noteRead', params: ({ event }) => event.output },
        },
        onError: {
          target: 'unread',
          actions: { type: 'noteProblem', params: ({ event }) => event },
        },
      },
    },
    unread: { description: 'Nothing to edit.', on: { 'read.asked': 'reading' } },
    editing: {
      tags: 'open',
      initial: 'checking',
      on: {
        'text.changed': {
          target: '.typing',
          actions: { type: 'noteText', params: ({ event }) => event },
        },
        'save.asked': { guard: 'isChanged', target: 'saving' },
      },
      states: {
        typing: {
          description: 'The user types.',
          on: {
            'text.changed': {
              target: 'typing',
              reenter: true,
              actions: { type: 'noteText', params: ({ event }) => event },
            },
          },
          after: { typing: 'checking' },
        },
        checking: {
          invoke: {
            src: 'check',
            input: ({ context }) => ({ text: context.text }),
            onDone: {
              target: 'checked',
              actions: { type: 'noteCheck', params: ({ event }) => ({ check: event.output }) },
            },
            onError: {
              target: 'checked',
              actions: { type: 'noteProblem', params: ({ event }) => event },
            },
          },
        },
        checked: { description: 'The server has validated the text.' },
      },
    },
    saving: {
      tags: 'busy',
      invoke: {
        src: 'save',
        input: ({ context }) => ({ text: context.text, etag: context.saved?.etag ?? '' }),
        onDone: [
          {
            guard: { type: 'wasSaved', params: ({ event }) => event.output },
            target: 'editing',
            actions: { type: 'noteSaved', params: ({ event }) => event.output as SavedOutcome },
          },
          {
            guard: { type: 'wasConflict', params: ({ event }) => event.output },
            target: 'conflicting',
            actions: { type: 'noteTheirs', params: ({ event }) => event.output as ChangedOutcome },
          },
          { guard: stateIn({ saving: 'typing' }), target: 'editing' },
          {
            target: 'editing.checked',
            actions: { type: 'noteCheck', params: ({ event }) => event.output as InvalidOutcome },
          },
        ],
        onError: [
          {
            guard: stateIn({ saving: 'typing' }),
            target: 'editing.typing',
            actions: { type: 'noteProblem', params: ({ event }) => event },
          },
          {
            target: 'editing.checked',
            actions: { type: 'noteProblem', params: ({ event }) => event },
          },
        ],
      },
      on: {
        'text.changed': {
          target: '.typing',
          actions: { type: 'noteText', params: ({ event }) => event },
        },
      },
      initial: 'asked',
      states: {
        asked: { description: 'The text is saved.' },
        typing: { description: 'The user keeps typing; the server validated an older text.' },
      },
    },
    conflicting: {
      description: 'The file changed on disk; both versions are shown.',
      tags: 'conflict',
      on: {
        'mine.kept': { target: 'editing', actions: 'keepMine' },
        'theirs.taken': { target: 'editing', actions: 'takeTheirs' },
        'text.changed': { actions: { type: 'noteText', params: ({ event }) => event } },
      },
    },
  },
});

/** Returns true if the text differs from the last loaded or saved one. */
export function isChanged({ saved, text }: ConfigContext): boolean {
  return saved !== null && saved.content !== text;
}

type SavedOutcome = Extract<SaveOutcome, { kind: 'saved' }>;
type InvalidOutcome = Extract<SaveOutcome, { kind: 'invalid' }>;
type ChangedOutcome = Extract<SaveOutcome, { kind: 'changed' }>;
