import { assign, fromPromise, setup } from 'xstate';
import type { ConfigChangedJson } from '../../../../http/wire/dashboard/config-json.ts';
import type {
  PolicyEditJson,
  PolicyRulesJson,
  ToolRulesJson,
} from '../../../../http/wire/dashboard/policy-edit-json.ts';
import { sentenceOf } from '../../api/sentence-of.ts';

/** The server's evaluation of edited rules. */
export type PreviewOutcome =
  | { kind: 'previewed'; preview: PolicyEditJson }
  | { kind: 'invalid'; problems: string[] }
  | { kind: 'changed'; now: ConfigChangedJson };

type Previewed = Extract<PreviewOutcome, { kind: 'previewed' }>;

/** The reason why the server could not evaluate them. */
export type Refusal = Exclude<PreviewOutcome, Previewed>;

/** The result of a save. */
export type SaveOutcome = { kind: 'saved' } | Refusal;

export type RulesEvent =
  | { type: 'rule.changed'; rules: ToolRulesJson }
  | { type: 'preview.asked' }
  | { type: 'save.asked' }
  | { type: 'read.asked' };

interface RulesContext {
  /** The rules as loaded. */
  read: PolicyRulesJson | null;
  rules: ToolRulesJson[];
  preview: PolicyEditJson | null;
  problems: string[];
  /** A version saved by another client in the meantime. */
  theirs: ConfigChangedJson | null;
}

type Asked = { event: { output: PreviewOutcome | SaveOutcome } };

/** Transitions for a refusal of the server. */
const refusals = [
  {
    guard: { type: 'isInvalid', params: ({ event }: Asked) => event.output },
    target: 'editing',
    actions: { type: 'noteRefusal', params: ({ event }: Asked) => event.output as Refusal },
  },
  {
    target: 'conflicted',
    actions: { type: 'noteRefusal', params: ({ event }: Asked) => event.output as Refusal },
  },
] as const;

/**
 * The rules of one agent while a user edits them. Their effect must be shown before they can be saved. The saved text
 * is exactly the displayed one, and replaces only the version it was made from.
 */
export const rulesMachine = setup({
  types: { context: {} as RulesContext, events: {} as RulesEvent },
  actors: {
    /** Like all ports here, rejects with an error whose message is a sentence. */
    read: fromPromise<PolicyRulesJson>(() => Promise.reject(new Error('unread'))),
    preview: fromPromise<PreviewOutcome, { etag: string; rules: ToolRulesJson[] }>(() =>
      Promise.reject(new Error('unread')),
    ),
    save: fromPromise<SaveOutcome, { content: string; etag: string }>(() =>
      Promise.reject(new Error('unsaved')),
    ),
  },
  actions: {
    noteRead: assign((_, read: PolicyRulesJson) => ({
      ...{ read, rules: read.rules, preview: null, problems: [], theirs: null },
    })),
    noteRule: assign(({ context }, changed: ToolRulesJson) => ({
      rules: context.rules.map((one) => (one.tool === changed.tool ? changed : one)),
      preview: null,
      problems: [],
    })),
    notePreview: assign((_, preview: PolicyEditJson) => ({ preview, problems: [] })),
    noteProblems: assign((_, problems: string[]) => ({ problems })),
    noteRefusal: assign((_, refusal: Refusal) =>
      refusal.kind === 'invalid'
        ? { problems: refusal.problems }
        : { theirs: refusal.now, problems: [] },
    ),
  },
  guards: {
    isChanged: ({ context }) => isChanged(context),
    isOk: (_, { kind }: PreviewOutcome | SaveOutcome) => kind === 'previewed' || kind === 'saved',
    isInvalid: (_, { kind }: PreviewOutcome | SaveOutcome) => kind === 'invalid',
  },
}).createMachine({
  id: 'rules',
  context: { read: null, rules: [], preview: null, problems: [], theirs: null },
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
          actions: { type: 'noteProblems', params: ({ event }) => [sentenceOf(event.error)] },
        },
      },
    },
    unread: { description: 'Nothing to edit.', on: { 'read.asked': 'reading' } },
    editing: {
      description: 'The user edits rules. Saving requires a preview.',
      tags: 'open',
      on: {
        'rule.changed': { actions: { type: 'noteRule', params: ({ event }) => event.rules } },
        'preview.asked': { guard: 'isChanged', target: 'previewing' },
        'read.asked': 'reading',
      },
    },
    previewing: {
      description: 'The server evaluates recent calls under the changed rules.',
      tags: 'busy',
      invoke: {
        src: 'preview',
        input: ({ context: { read, rules } }) => ({ etag: read?.etag ?? '', rules }),
        onDone: [
          {
            guard: { type: 'isOk', params: ({ event }) => event.output },
            target: 'previewed',
            actions: {
              type: 'notePreview',
              params: ({ event }) => (event.output as Previewed).preview,
            },
          },
          ...refusals,
        ],
        onError: {
          target: 'editing',
          actions: { type: 'noteProblems', params: ({ event }) => [sentenceOf(event.error)] },
        },
      },
    },
    previewed: {
      description: 'The preview shows the changes and their effect.',
      tags: 'open',
      on: {
        'rule.changed': {
          target: 'editing',
          actions: { type: 'noteRule', params: ({ event }) => event.rules },
        },
        'save.asked': 'saving',
        'read.asked': 'reading',
      },
    },
    saving: {
      tags: 'busy',
      invoke: {
        src: 'save',
        input: ({ context: { preview } }) => ({
          content: preview?.content ?? '',
          etag: preview?.etag ?? '',
        }),
        onDone: [
          { guard: { type: 'isOk', params: ({ event }) => event.output }, target: 'saved' },
          ...refusals,
        ],
        onError: {
          target: 'previewed',
          actions: { type: 'noteProblems', params: ({ event }) => [sentenceOf(event.error)] },
        },
      },
    },
    conflicted: {
      description: 'The file changed on disk; the edit starts over from it.',
      on: { 'read.asked': 'reading' },
    },
    saved: {
      description: 'The file is saved; a running agent uses it after a restart.',
      on: { 'read.asked': 'reading' },
    },
  },
});

/** Returns true if a rule differs from the loaded one. */
export function isChanged({ read, rules }: RulesContext): boolean {
  return read !== null && JSON.stringify(read.rules) !== JSON.stringify(rules);
}
