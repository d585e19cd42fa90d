import { assign, type CallbackActorLogic, fromCallback, fromPromise, setup } from 'xstate';
import type {
  CustomSkillContentJson,
  SkillChangedJson,
  SkillCheckJson,
  SkillDraftJson,
  SkillSaveResultJson,
} from '../../../../http/wire/dashboard/builder-json.ts';
import { sentenceOf } from '../../api/sentence-of.ts';
import { type SaidTurn, spokenPart } from './said-turns.ts';

/** The edited skill of the agent, as last loaded or saved. */
export interface EditedSkill {
  name: string;
  skill: CustomSkillContentJson;
}

/** The result of a save. */
export type SaveOutcome =
  | { kind: 'saved'; result: SkillSaveResultJson; edited: EditedSkill }
  | { kind: 'invalid'; check: SkillCheckJson }
  | { kind: 'taken'; now: SkillChangedJson };

export type BuilderEvent =
  | { type: 'message.sent'; text: string }
  | { type: 'answer.stopped' }
  | { type: 'token.heard'; text: string }
  | { type: 'message.heard'; content: string }
  | { type: 'draft.heard'; draft: SkillDraftJson }
  | { type: 'stream.ended'; problem: string | null }
  | { type: 'skill.chosen'; edited: EditedSkill }
  | { type: 'builder.reset' }
  | { type: 'save.asked'; env: Record<string, string> }
  | { type: 'theirs.compared' }
  | { type: 'changes.toggled' }
  | { type: 'hold.toggled' };

export interface BuilderContext {
  turns: SaidTurn[];
  /** The model's output so far in the current answer. */
  heard: string;
  message: string | null;
  talkProblem: string | null;
  draft: SkillDraftJson | null;
  /** `null` for a new skill. */
  editing: EditedSkill | null;
  /** True if the files are compared with the files of `editing`. */
  compares: boolean;
  check: SkillCheckJson | null;
  /** The existing skill that conflicts with the draft. */
  taken: SkillChangedJson | null;
  result: SkillSaveResultJson | null;
  saveProblem: string | null;
  env: Record<string, string>;
  /** True if the tools that the skill recommends to hold are held. */
  hold: boolean;
}

export interface TalkInput {
  turns: SaidTurn[];
  editing: string | null;
}

export interface SaveInput {
  draft: SkillDraftJson;
  editing: EditedSkill | null;
  env: Record<string, string>;
  hold: boolean;
}

const nothing: BuilderContext = {
  ...{ turns: [], heard: '', message: null, talkProblem: null, draft: null, editing: null },
  ...{ compares: false, check: null, taken: null, result: null, saveProblem: null, env: {} },
  hold: true,
};

/**
 * The conversation in which a skill is written, and the skill itself. The skill is validated after each change, and
 * saved only on the user's request.
 */
export const builderMachine = setup({
  types: { context: {} as BuilderContext, events: {} as BuilderEvent },
  actors: {
    /** Reports the model's output until the stream ends. */
    talk: fromCallback(() => undefined) as CallbackActorLogic<BuilderEvent, TalkInput>,
    /** Like all ports here, rejects with an error whose message is a sentence. */
    check: fromPromise<SkillCheckJson, { draft: SkillDraftJson; editing: string | null }>(() =>
      Promise.reject(new Error('unchecked')),
    ),
    save: fromPromise<SaveOutcome, SaveInput>(() => Promise.reject(new Error('unsaved'))),
  },
  actions: {
    noteMessage: assign(({ context }, { text }: { text: string }) => ({
      turns: [...context.turns, { role: 'user' as const, text, shown: text }],
      ...{ heard: '', message: null, talkProblem: null },
    })),
    noteToken: assign(({ context }, { text }: { text: string }) => ({
      heard: context.heard + text,
    })),
    noteAnswer: assign((_, { content }: { content: string }) => ({ message: content })),
    /** Received output is kept, even if it is incomplete. */
    endAnswer: assign(({ context }, { problem }: { problem: string | null }) => {
      const { heard, message, turns } = context;
      const shown = message ?? spokenPart(heard).words;
      const turn = { role: 'assistant' as const, text: heard, shown };
      return {
        turns: heard.trim() === '' ? turns : [...turns, turn],
        ...{ heard: '', message: null, talkProblem: problem },
      };
    }),
    noteDraft: assign((_, { draft }: { draft: SkillDraftJson }) => ({
      ...{ draft, check: null, taken: null, saveProblem: null, result: null },
      // The choice applied only to the previous text, so it is reset.
      hold: true,
    })),
    beginEdit: assign((_, { edited }: { edited: EditedSkill }) => ({
      ...nothing,
      ...{ editing: edited, draft: draftOf(edited.skill) },
    })),
    reset: assign(() => nothing),
    noteCheck: assign((_, { check }: { check: SkillCheckJson }) => ({ check, saveProblem: null })),
    noteEnv: assign((_, { env }: { env: Record<string, string> }) => ({ env })),
    noteSaved: assign((_, outcome: SaveOutcome) =>
      outcome.kind === 'saved'
        ? {
            ...{ result: outcome.result, editing: outcome.edited, env: {}, taken: null },
            ...{ draft: draftOf(outcome.edited.skill), compares: false, saveProblem: null },
          }
        : {},
    ),
    noteRefused: assign((_, outcome: SaveOutcome) =>
      outcome.kind === 'invalid' ? { check: outcome.check } : {},
    ),
    noteTaken: assign((_, outcome: SaveOutcome) =>
      outcome.kind === 'taken' ? { taken: outcome.now } : {},
    ),
    /** The next save overwrites the existing skill. */
    compareTheirs: assign(({ context: { taken } }) =>
      taken === null
        ? {}
        : {
            editing: taken.skill && { name: taken.name, skill: taken.skill },
            compares: taken.skill !== null,
            taken: null,
          },
    ),
    toggleChanges: assign(({ context }) => ({ compares: !context.compares })),
    toggleHold: assign(({ context }) => ({ hold: !context.hold })),
    noteProblem: assign((_, { error }: { error: unknown }) => ({
      saveProblem: sentenceOf(error),
    })),
  },
  guards: {
    isRight: ({ context }) => context.check?.valid === true,
    wasSaved: (_, { kind }: SaveOutcome) => kind === 'saved',
    wasInvalid: (_, { kind }: SaveOutcome) => kind === 'invalid',
  },
}).createMachine({
  id: 'skillBuilder',
  context: nothing,
  type: 'parallel',
  on: {
    'skill.chosen': {
      target: ['.talk.quiet', '.skill.checking'],
      actions: { type: 'beginEdit', params: ({ event }) => event },
    },
    'builder.reset': { target: ['.talk.quiet', '.skill.empty'], actions: 'reset' },
    'changes.toggled': { actions: 'toggleChanges' },
  },
  states: {
    talk: {
      initial: 'quiet',
      states: {
        quiet: {
          description: 'Ready for a message.',
          on: {
            'message.sent': {
              target: 'talking',
              actions: { type: 'noteMessage', params: ({ event }) => event },
            },
          },
        },
        talking: {
          tags: 'talking',
          invoke: {
            src: 'talk',
            input: ({ context }) => ({
              turns: context.turns,
              editing: context.editing?.name ?? null,
            }),
          },
          on: {
            'token.heard': { actions: { type: 'noteToken', params: ({ event }) => event } },
            'message.heard': { actions: { type: 'noteAnswer', params: ({ event }) => event } },
            'stream.ended': {
              target: 'quiet',
              actions: { type: 'endAnswer', params: ({ event }) => event },
            },
            'answer.stopped': {
              target: 'quiet',
              actions: { type: 'endAnswer', params: { problem: null } },
            },
          },
        },
      },
    },
    skill: {
      initial: 'empty',
      on: {
        'draft.heard': {
          target: '.checking',
          actions: { type: 'noteDraft', params: ({ event }) => event },
        },
      },
      states: {
        empty: { description: 'No draft yet.' },
        checking: {
          tags: 'written',
          invoke: {
            src: 'check',
            input: ({ context }) => ({
              draft: context.draft ?? { skill_md: '', scripts: {} },
              editing: context.editing?.name ?? null,
            }),
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
        checked: {
          description: 'The draft is under review.',
          tags: 'written',
          on: {
            'save.asked': {
              guard: 'isRight',
              target: 'saving',
              actions: { type: 'noteEnv', params: ({ event }) => event },
            },
            'hold.toggled': { actions: 'toggleHold' },
            'theirs.compared': { target: 'checking', actions: 'compareTheirs' },
          },
        },
        saving: {
          tags: ['written', 'saving'],
          invoke: {
            src: 'save',
            input: ({ context: { draft, editing, env, hold } }) => ({
              draft: draft ?? { skill_md: '', scripts: {} },
              ...{ editing, env, hold },
            }),
            onDone: [
              {
                guard: { type: 'wasSaved', params: ({ event }) => event.output },
                target: 'saved',
                actions: { type: 'noteSaved', params: ({ event }) => event.output },
              },
              {
                guard: { type: 'wasInvalid', params: ({ event }) => event.output },
                target: 'checked',
                actions: { type: 'noteRefused', params: ({ event }) => event.output },
              },
              {
                target: 'checked',
                actions: { type: 'noteTaken', params: ({ event }) => event.output },
              },
            ],
            onError: {
              target: 'checked',
              actions: { type: 'noteProblem', params: ({ event }) => event },
            },
          },
          // Ignores new drafts of the model, because the user has not seen them.
          on: { 'draft.heard': {} },
        },
        saved: {
          description: 'Saved in the folder of the agent.',
          tags: ['written', 'saved'],
          on: {
            'save.asked': {
              target: 'saving',
              actions: { type: 'noteEnv', params: ({ event }) => event },
            },
          },
        },
      },
    },
  },
});

/** Returns true if there are changes that are unsaved in the agent's folder. */
export function isUnsaved({ draft, editing }: BuilderContext): boolean {
  return JSON.stringify(draft) !== JSON.stringify(editing && draftOf(editing.skill));
}

function draftOf({ skill_md, scripts }: CustomSkillContentJson): SkillDraftJson {
  return { skill_md, scripts };
}
