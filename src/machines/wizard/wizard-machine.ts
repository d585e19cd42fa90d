import { assign, setup } from 'xstate';
import {
  type AgentAnswers,
  firstAnswers,
  isAsked,
  type Question,
  type Step,
  settledAnswers,
  steps,
  toolsToHold,
  withHeldTools,
  withoutLostTools,
} from './agent-answers.ts';
import { gateProvider, type WizardOffer } from './offers.ts';
import { isReachable, wrongAnswer } from './wrong-answers.ts';

export interface WizardInput {
  offer: WizardOffer;
  /** Known answers; defaults when absent. */
  answers?: AgentAnswers;
}

export interface WizardContext {
  /**
   * Everything typed, including answers that other answers made irrelevant, so that they reappear when those change.
   */
  answers: AgentAnswers;
  offer: WizardOffer;
  /** The problem of the current step after an attempt to continue; `null` otherwise. */
  complaint: string | null;
}

/** Stores input of the current step, valid or not. */
export type AnswerEdit = {
  [Each in Question]: { type: 'answer.edit'; step: Each; value: AgentAnswers[Each] };
}[Question];

export type WizardEvent =
  | AnswerEdit
  /** Moves to the next step if the current one is valid. */
  | { type: 'step.next' }
  /** Moves to the previous step. */
  | { type: 'step.back' }
  /** Moves to any reachable step; ignored for others. */
  | { type: 'step.go'; step: Step }
  /** A browser sign-in has completed, or was discarded (empty), at any step. */
  | { type: 'session.keep'; session: string }
  /** Accepts the answers in the review. */
  | { type: 'review.accept' };

type At = { context: WizardContext; event: WizardEvent };

const wizard = setup({
  types: {
    context: {} as WizardContext,
    events: {} as WizardEvent,
    input: {} as WizardInput,
    output: {} as AgentAnswers,
  },
  guards: {
    isOf: ({ event }: At, { step }: { step: Step }) =>
      event.type === 'answer.edit' && event.step === step,
    isRight: ({ context: { answers, offer } }: At, { step }: { step: Step }) =>
      wrongAnswer(step, answers, offer) === null,
    isRightAndAsks: (
      { context: { answers, offer } }: At,
      { step, next }: { step: Step; next: Step },
    ) => wrongAnswer(step, answers, offer) === null && isAsked(next, answers, offer),
    isAsked: ({ context: { answers, offer } }: At, { step }: { step: Step }) =>
      isAsked(step, answers, offer),
    canGoTo: ({ context: { answers, offer }, event }: At, { step }: { step: Step }) =>
      event.type === 'step.go' && event.step === step && isReachable(step, answers, offer),
    isGate: ({ context: { answers } }: At) => answers.provider === gateProvider,
    isComplete: ({ context: { answers, offer } }: At) => isReachable('review', answers, offer),
  },
  actions: {
    keep: assign(({ context, event }) => {
      if (event.type !== 'answer.edit') return {};
      return { answers: answersWith(context, event), complaint: null };
    }),
    keepSession: assign(({ context: { answers } }, { session }: { session: string }) => ({
      answers: { ...answers, model: { ...answers.model, session } },
    })),
    complain: assign(({ context: { answers, offer } }, { step }: { step: Step }) => ({
      complaint: wrongAnswer(step, answers, offer),
    })),
    forgetComplaint: assign({ complaint: null }),
  },
});

/** Steps that are always asked. Navigation between two of them skips only optional steps. */
const always: ReadonlySet<Step> = new Set<Step>([
  'name',
  'provider',
  'channels',
  'tools',
  'auth',
  'egress',
  'security',
  'review',
]);

/**
 * Returns the steps from the given one up to the first that is always asked, in either direction; only an empty list
 * has none.
 */
function upToAlways(list: readonly Step[]): { sometimes: Step[]; last: Step | undefined } {
  const end = list.findIndex((step) => always.has(step));
  return { sometimes: list.slice(0, end), last: list[end] };
}

function stateOf(step: Question) {
  const { sometimes, last = 'review' } = upToAlways(steps.slice(steps.indexOf(step) + 1));
  return wizard.createStateConfig({
    on: {
      'answer.edit': {
        guard: { type: 'isOf', params: { step } } as const,
        actions: 'keep' as const,
      },
      'step.next': [
        ...(step === 'provider' ? [ofGate('review')] : []),
        ...sometimes.map((next) => ({
          guard: { type: 'isRightAndAsks', params: { step, next } } as const,
          target: next,
          actions: 'forgetComplaint' as const,
        })),
        {
          guard: { type: 'isRight', params: { step } } as const,
          target: last,
          actions: 'forgetComplaint' as const,
        },
        { actions: { type: 'complain', params: { step } } as const },
      ],
      'step.back': backFrom(step),
    },
  });
}

/** The transition of a gate, whose other steps are not asked. */
function ofGate(target: Step) {
  return { guard: 'isGate', target, actions: 'forgetComplaint' } as const;
}

function backFrom(step: Step) {
  const { sometimes, last } = upToAlways(steps.slice(0, steps.indexOf(step)).toReversed());
  return [
    ...(step === 'review' ? [ofGate('provider')] : []),
    ...sometimes.map((target) => ({
      guard: { type: 'isAsked', params: { step: target } } as const,
      target,
      actions: 'forgetComplaint' as const,
    })),
    ...(last === undefined ? [] : [{ target: last, actions: 'forgetComplaint' as const }]),
  ];
}

/**
 * The wizard for a new agent, one state per step, shared by all front ends (docs/contract/command.md,
 * docs/contract/dashboard.md).
 */
export const wizardMachine = wizard.createMachine({
  id: 'wizard',
  description:
    'Collects the answers that create an agent. Answers survive navigation; an invalid answer stays at its step with the reason; steps that do not apply are skipped, and reachable steps can be opened directly.',
  context: ({ input }) => ({
    answers: input.answers ?? firstAnswers,
    offer: input.offer,
    complaint: null,
  }),
  initial: 'name',
  on: {
    'session.keep': {
      actions: { type: 'keepSession', params: ({ event }) => ({ session: event.session }) },
    },
    'step.go': steps.map((step) => ({
      guard: { type: 'canGoTo', params: { step } } as const,
      target: `.${step}` as const,
      actions: 'forgetComplaint' as const,
    })),
  },
  states: {
    name: { description: 'Name of the agent.', ...stateOf('name') },
    provider: { description: 'Whose model works on its tasks.', ...stateOf('provider') },
    model: {
      description: 'Model of that provider and its authentication.',
      ...stateOf('model'),
    },
    channels: {
      description: 'Where people speak with it and decide, with the tokens.',
      ...stateOf('channels'),
    },
    tools: { description: 'Builtin tools.', ...stateOf('tools') },
    skills: {
      description: 'Skills of the registry, with their variables.',
      ...stateOf('skills'),
    },
    fallback: {
      description: 'Fallback models.',
      ...stateOf('fallback'),
    },
    auth: { description: 'How callers sign in.', ...stateOf('auth') },
    egress: {
      description: 'Allowed hosts, in addition to those derived from the answers.',
      ...stateOf('egress'),
    },
    security: {
      description: 'Further variables, and the passphrase of the secrets.',
      ...stateOf('security'),
    },
    approvals: {
      description: 'Tools that require approval, with target, timeout and quorum.',
      ...stateOf('approvals'),
    },
    review: {
      description: 'All answers are shown for review.',
      on: {
        'review.accept': { guard: 'isComplete', target: 'accepted' },
        'step.back': backFrom('review'),
      },
    },
    accepted: { description: 'The agent can be written.', type: 'final' },
  },
  output: ({ context: { answers, offer } }) => settledAnswers(answers, offer),
});

/**
 * Changing the provider discards the model and its key, because the key belongs to the previous provider. Tools that
 * change something, or that a skill recommends to hold, are held as soon as they are chosen, so removing the hold is a
 * deliberate choice.
 */
function answersWith({ answers, offer }: WizardContext, { step, value }: AnswerEdit): AgentAnswers {
  const edited = { ...answers, [step]: value };
  if (step === 'skills') {
    const isNew = (name: string) =>
      !answers.skills.names.includes(name) && value.names.includes(name);
    const chosen = offer.skills.filter(({ name }) => isNew(name));
    return withoutLostTools(withHeldTools(edited, toolsToHold([], chosen)), offer);
  }
  if (step === 'tools') {
    const fresh = value.names.filter((name) => !answers.tools.names.includes(name));
    return withoutLostTools(withHeldTools(edited, toolsToHold(fresh, [])), offer);
  }
  if (step !== 'provider' || value === answers.provider) return edited;
  return { ...edited, model: firstAnswers.model };
}
