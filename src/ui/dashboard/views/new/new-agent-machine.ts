import { type ActorRefFrom, assign, fromPromise, sendTo, setup, stopChild } from 'xstate';
import type { CreatedJson } from '../../../../http/wire/dashboard/wizard-json.ts';
import { type AgentAnswers, type Step, steps } from '../../../../machines/wizard/agent-answers.ts';
import type { WizardOffer } from '../../../../machines/wizard/offers.ts';
import { type AnswerEdit, wizardMachine } from '../../../../machines/wizard/wizard-machine.ts';
import { sentenceOf } from '../../api/sentence-of.ts';
import { browserSignInMachine, type SessionKept } from './browser-sign-in-machine.ts';

/** A problem of a step that its answers do not show: the server's message, or a mistyped passphrase. */
export interface Refusal {
  step: Step;
  text: string;
}

/** Thrown by the port `create` if the server names the refused step. */
export class StepRefused extends Error {
  readonly step: Step;

  constructor(step: Step, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StepRefused';
    this.step = step;
  }
}

export type NewAgentEvent =
  | { type: 'offer.again' }
  | AnswerEdit
  /** The passphrase was typed a second time. */
  | { type: 'passphrase.repeat'; text: string }
  | { type: 'step.next' }
  | { type: 'step.back' }
  | { type: 'step.go'; step: Step }
  | { type: 'create' }
  | SessionKept
  /** The user starts another agent. */
  | { type: 'begin.again' };

interface NewAgentContext {
  /** The wizard; `null` before its options are loaded, and once the agent is created, so that no secret remains. */
  wizard: ActorRefFrom<typeof wizardMachine> | null;
  /** The sign-in; `null` while there is no wizard. */
  signIn: ActorRefFrom<typeof browserSignInMachine> | null;
  offer: WizardOffer | null;
  /** The repeated passphrase. */
  repeated: string;
  refusal: Refusal | null;
  /** The reason why the options could not be loaded. */
  problem: string | null;
  made: CreatedJson | null;
}

const mistyped = {
  step: 'security',
  text: 'the passphrases differ; type both again',
} as const;

const unfinished = {
  step: 'model',
  text: 'sign in with the browser, or choose API key',
} as const;

/**
 * The creation of one agent on the page. The steps are the wizard's. The answers are sent when the review is accepted,
 * and a refusal leads back to its step without losing input. No secret is kept after the agent is created.
 */
export const newAgentMachine = setup({
  types: { context: {} as NewAgentContext, events: {} as NewAgentEvent },
  actors: {
    wizard: wizardMachine,
    signIn: browserSignInMachine,
    /** Loads the options. Rejects with a message. */
    readOffer: fromPromise<WizardOffer>(() => Promise.reject(new Error('unread'))),
    /** Creates the agent. Rejects with StepRefused, or with a message. */
    create: fromPromise<CreatedJson, { answers: AgentAnswers }>(() =>
      Promise.reject(new Error('uncreated')),
    ),
  },
  actions: {
    beginWizard: assign(({ spawn }, { offer }: { offer: WizardOffer }) => ({
      wizard: spawn('wizard', { input: { offer } }),
      signIn: spawn('signIn', { id: 'sign-in' }),
      offer,
      ...{ repeated: '', refusal: null, problem: null, made: null },
    })),
    ask: sendTo(
      ({ context }) => wizardOf(context),
      (_, event: Parameters<ActorRefFrom<typeof wizardMachine>['send']>[0]) => event,
    ),
    leaveSignIn: sendTo('sign-in', { type: 'key.choose' }),
    stopSignIn: stopChild('sign-in'),
    noteRepeated: assign((_, { text }: { text: string }) => ({ repeated: text, refusal: null })),
    refuse: assign((_, refusal: Refusal) => ({ refusal })),
    forgetRefusal: assign({ refusal: null }),
    noteProblem: assign((_, { error }: { error: unknown }) => ({
      problem: sentenceOf(error),
    })),
    noteMade: assign((_, { made }: { made: CreatedJson }) => ({
      made,
      ...{ wizard: null, signIn: null, repeated: '', refusal: null },
    })),
  },
  guards: {
    /** A sign-in is valid for one provider only. */
    isOtherProvider: ({ context }, edit: AnswerEdit) =>
      edit.step === 'provider' && edit.value !== answersOf(context).provider,
    isUnsigned: ({ context }) => isUnsigned(context) && stepOf(context) === 'model',
    /** An agent created before the sign-in completes would have no key. */
    isPastUnsigned: ({ context }, { step }: { step: Step }) =>
      isUnsigned(context) && steps.indexOf(step) > steps.indexOf('model'),
    isMistyped: ({ context }) => isMistyped(context) && stepOf(context) === 'security',
    /** A mistyped passphrase would make the secrets unreadable. */
    isPastMistyped: ({ context }, { step }: { step: Step }) =>
      isMistyped(context) && steps.indexOf(step) > steps.indexOf('security'),
    isComplete: ({ context }) =>
      wizardOf(context).getSnapshot().can({ type: 'review.accept' }) && !isMistyped(context),
  },
}).createMachine({
  id: 'new-agent',
  description: 'Creates an agent from the answers of the wizard.',
  context: {
    ...{ wizard: null, signIn: null, offer: null, repeated: '' },
    ...{ refusal: null, problem: null, made: null },
  },
  initial: 'reading',
  on: {
    'session.keep': { actions: { type: 'ask', params: ({ event }) => event } },
  },
  states: {
    reading: {
      description: 'Loading the options.',
      invoke: {
        src: 'readOffer',
        onDone: {
          target: 'asking',
          actions: { type: 'beginWizard', params: ({ event }) => ({ offer: event.output }) },
        },
        onError: {
          target: 'unread',
          actions: { type: 'noteProblem', params: ({ event }) => event },
        },
      },
    },
    unread: { description: 'The options could not be loaded.', on: { 'offer.again': 'reading' } },
    asking: {
      description: 'The user answers the steps in any allowed order.',
      on: {
        'answer.edit': [
          {
            guard: { type: 'isOtherProvider', params: ({ event }) => event },
            actions: [
              'forgetRefusal',
              'leaveSignIn',
              { type: 'ask', params: ({ event }) => event },
            ],
          },
          { actions: ['forgetRefusal', { type: 'ask', params: ({ event }) => event }] },
        ],
        'session.keep': {
          actions: ['forgetRefusal', { type: 'ask', params: ({ event }) => event }],
        },
        'passphrase.repeat': {
          actions: { type: 'noteRepeated', params: ({ event }) => event },
        },
        'step.next': [
          { guard: 'isUnsigned', actions: { type: 'refuse', params: unfinished } },
          { guard: 'isMistyped', actions: { type: 'refuse', params: mistyped } },
          { actions: ['forgetRefusal', { type: 'ask', params: { type: 'step.next' } }] },
        ],
        'step.back': { actions: ['forgetRefusal', { type: 'ask', params: { type: 'step.back' } }] },
        'step.go': [
          {
            guard: { type: 'isPastUnsigned', params: ({ event }) => event },
            actions: [
              { type: 'refuse', params: unfinished },
              { type: 'ask', params: { type: 'step.go', step: 'model' } },
            ],
          },
          {
            guard: { type: 'isPastMistyped', params: ({ event }) => event },
            actions: [
              { type: 'refuse', params: mistyped },
              { type: 'ask', params: { type: 'step.go', step: 'security' } },
            ],
          },
          { actions: ['forgetRefusal', { type: 'ask', params: ({ event }) => event }] },
        ],
        create: [
          {
            guard: { type: 'isPastUnsigned', params: { step: 'review' } },
            actions: [
              { type: 'refuse', params: unfinished },
              { type: 'ask', params: { type: 'step.go', step: 'model' } },
            ],
          },
          { guard: 'isComplete', target: 'creating', actions: 'forgetRefusal' },
        ],
      },
    },
    creating: {
      description: 'The server writes the agent, all or nothing.',
      tags: 'busy',
      invoke: {
        src: 'create',
        input: ({ context }) => ({ answers: wizardOf(context).getSnapshot().context.answers }),
        onDone: {
          target: 'made',
          actions: [
            { type: 'ask', params: { type: 'review.accept' } },
            'stopSignIn',
            { type: 'noteMade', params: ({ event }) => ({ made: event.output }) },
          ],
        },
        onError: {
          target: 'asking',
          actions: [
            { type: 'refuse', params: ({ event }) => refusalOf(event.error) },
            {
              type: 'ask',
              params: ({ event }) => ({ type: 'step.go', step: refusalOf(event.error).step }),
            },
          ],
        },
      },
    },
    made: {
      description: 'The agent is created and can be started.',
      on: { 'begin.again': 'reading' },
    },
  },
});

function wizardOf({ wizard }: NewAgentContext): ActorRefFrom<typeof wizardMachine> {
  if (wizard === null) throw new Error('no step is shown in this state');
  return wizard;
}

function stepOf(context: NewAgentContext): Step | undefined {
  const { value } = wizardOf(context).getSnapshot();
  return steps.find((step) => step === value);
}

function answersOf(context: NewAgentContext): AgentAnswers {
  return wizardOf(context).getSnapshot().context.answers;
}

function isMistyped(context: NewAgentContext): boolean {
  return answersOf(context).security.passphrase !== context.repeated;
}

function isUnsigned(context: NewAgentContext): boolean {
  const canSignIn = context.offer?.signIn.includes(answersOf(context).provider) === true;
  return canSignIn && context.signIn?.getSnapshot().hasTag('unfinished') === true;
}

function refusalOf(error: unknown): Refusal {
  const text = sentenceOf(error);
  return { step: error instanceof StepRefused ? error.step : 'review', text };
}
