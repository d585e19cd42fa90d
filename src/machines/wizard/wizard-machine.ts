import { assign, setup } from 'xstate';
import {
  type AgentAnswers,
  firstAnswers,
  isAsked,
  type Question,
  wrongAnswer,
} from './agent-answers.ts';

export interface WizardContext {
  answers: AgentAnswers;
  /** What is wrong with the last answer; `null` when it was taken. */
  complaint: string | null;
}

export type WizardEvent =
  /** Answers the question at hand. */
  | { type: 'question.answer'; value: string | readonly string[] }
  /** Goes to the question before. */
  | { type: 'question.back' }
  /** Takes the answers as they stand in the review. */
  | { type: 'review.accept' };

type Step = { context: WizardContext; event: WizardEvent };
type Asked = { question: Question };

const wizard = setup({
  types: {
    context: {} as WizardContext,
    events: {} as WizardEvent,
    output: {} as AgentAnswers,
  },
  guards: {
    isRight: (step, { question }: Asked) =>
      wrongAnswer(question, answeredWith(step, question)) === null,
    isAsked: ({ context }, { question }: Asked) => isAsked(question, context.answers),
    isAskedAfter: (step, { question, next }: Asked & { next: Question }) =>
      wrongAnswer(question, answeredWith(step, question)) === null &&
      isAsked(next, answeredWith(step, question)),
  },
  actions: {
    take: assign((step, { question }: Asked) => ({
      answers: answeredWith(step, question),
      complaint: null,
    })),
    complain: assign((step, { question }: Asked) => ({
      complaint: wrongAnswer(question, answeredWith(step, question)),
    })),
    forgetComplaint: assign({ complaint: null }),
  },
});

/** The state of a question: where a right answer leads, as far as that is asked then, and where back leads. */
function stateOf(
  question: Question,
  description: string,
  { next, last, back }: { next: readonly Question[]; last: string; back: readonly Question[] },
) {
  const take = { type: 'take', params: { question } } as const;
  return wizard.createStateConfig({
    description,
    on: {
      'question.answer': [
        ...next.map((target) => ({
          guard: { type: 'isAskedAfter', params: { question, next: target } } as const,
          target,
          actions: take,
        })),
        { guard: { type: 'isRight', params: { question } } as const, target: last, actions: take },
        { actions: { type: 'complain', params: { question } } as const },
      ],
      'question.back': back.map((target) => ({
        guard: { type: 'isAsked', params: { question: target } } as const,
        target,
        actions: 'forgetComplaint' as const,
      })),
    },
  });
}

/** The questions that a new agent is made from, a state each, whoever asks them (contract section 2, document 3). */
export const wizardMachine = wizard.createMachine({
  id: 'wizard',
  description:
    'Asks what an agent is made from. A wrong answer stays at its question and says why; back leads to the question that was asked before, with its answer.',
  context: { answers: firstAnswers, complaint: null },
  initial: 'name',
  states: {
    name: stateOf('name', 'What the agent is called.', { next: [], last: 'provider', back: [] }),
    provider: stateOf('provider', 'Whose model works on its tasks.', {
      next: ['model'],
      last: 'tools',
      back: ['name'],
    }),
    model: stateOf('model', 'Which model of that provider.', {
      next: ['baseUrl'],
      last: 'tools',
      back: ['provider'],
    }),
    baseUrl: stateOf('baseUrl', 'Where a provider without a usual address answers.', {
      next: [],
      last: 'tools',
      back: ['model'],
    }),
    tools: stateOf('tools', 'Which of the builtin tools it has.', {
      next: ['held'],
      last: 'reviewing',
      back: ['baseUrl', 'model', 'provider'],
    }),
    held: stateOf('held', 'Which of them wait for a person.', {
      next: [],
      last: 'reviewing',
      back: ['tools'],
    }),
    reviewing: {
      description: 'All is answered and shown once more.',
      on: {
        'review.accept': { target: 'accepted' },
        'question.back': [
          { guard: { type: 'isAsked', params: { question: 'held' } }, target: 'held' },
          { target: 'tools' },
        ],
      },
    },
    accepted: { description: 'The agent can be written.', type: 'final' },
  },
  output: ({ context }) => context.answers,
});

function answeredWith({ context, event }: Step, question: Question): AgentAnswers {
  if (event.type !== 'question.answer') return context.answers;
  const answers = { ...context.answers, [question]: event.value };
  // A tool that the agent no longer has cannot be held.
  return {
    ...answers,
    held:
      question === 'tools'
        ? answers.held.filter((each) => answers.tools.includes(each))
        : answers.held,
  };
}
