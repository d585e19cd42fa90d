import { assign, fromPromise, setup } from 'xstate';
import type { SkillPlanJson } from '../../../../http/wire/dashboard/skill-json.ts';
import { sentenceOf } from '../../api/sentence-of.ts';

export type AddEvent = { type: 'agent.chosen'; agent: string } | { type: 'confirmed' };

interface AddContext {
  /** Empty until the user chooses one. */
  agent: string;
  /** The changes of adding the skill to this agent, planned or done. */
  plan: SkillPlanJson | null;
  /** The reason why it cannot be added, in the server's own words. */
  problem: string | null;
}

/** Adding a skill to an agent. Nothing is written before the user has seen the changes for this agent. */
export const addMachine = setup({
  types: { context: {} as AddContext, events: {} as AddEvent },
  actors: {
    /** Requests the planned changes. Rejects with the server's message. */
    preview: fromPromise<SkillPlanJson, { agent: string }>(() => Promise.reject(new Error())),
    /** Adds the skill. Rejects with the server's message. */
    add: fromPromise<SkillPlanJson, { agent: string }>(() => Promise.reject(new Error())),
  },
  actions: {
    noteAgent: assign((_, { agent }: { agent: string }) => ({ agent, plan: null, problem: null })),
    notePlan: assign((_, { output }: { output: SkillPlanJson }) => ({ plan: output })),
    noteProblem: assign((_, { error }: { error: unknown }) => ({
      problem: sentenceOf(error),
    })),
    forgetProblem: assign({ problem: null }),
  },
}).createMachine({
  id: 'add-skill',
  context: { agent: '', plan: null, problem: null },
  initial: 'choosing',
  on: {
    'agent.chosen': {
      target: '.looking',
      actions: { type: 'noteAgent', params: ({ event }) => event },
    },
  },
  states: {
    choosing: { description: 'No agent selected.' },
    looking: {
      description: 'The server prepares the changes; another selection restarts it.',
      invoke: {
        src: 'preview',
        input: ({ context }) => ({ agent: context.agent }),
        onDone: {
          target: 'planned',
          actions: { type: 'notePlan', params: ({ event }) => event },
        },
        onError: {
          target: 'refused',
          actions: { type: 'noteProblem', params: ({ event }) => event },
        },
      },
    },
    planned: {
      description: 'The changes are shown.',
      on: { confirmed: { target: 'adding', actions: 'forgetProblem' } },
    },
    adding: {
      description: 'The server writes the changes; selection is locked meanwhile.',
      on: { 'agent.chosen': undefined },
      invoke: {
        src: 'add',
        input: ({ context }) => ({ agent: context.agent }),
        onDone: { target: 'added', actions: { type: 'notePlan', params: ({ event }) => event } },
        onError: {
          target: 'refused',
          actions: { type: 'noteProblem', params: ({ event }) => event },
        },
      },
    },
    refused: { description: 'It cannot be added to this agent.' },
    added: { description: 'The agent uses it after its next start.' },
  },
});
