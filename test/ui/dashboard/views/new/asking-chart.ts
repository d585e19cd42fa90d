import { type AnyMachineSnapshot, assign, initialTransition, transition } from 'xstate';
import type { AgentAnswers } from '../../../../../src/machines/wizard/agent-answers.ts';
import { wizardMachine } from '../../../../../src/machines/wizard/wizard-machine.ts';
import { browserSignInMachine } from '../../../../../src/ui/dashboard/views/new/browser-sign-in-machine.ts';
import { newAgentMachine } from '../../../../../src/ui/dashboard/views/new/new-agent-machine.ts';

/** What can be chosen where a browser may sign in to OpenAI. */
export const offer = { skills: [], signIn: ['openai'] };

/** An actor of another chart, as this one reads it. */
const still = (snapshot: AnyMachineSnapshot): any => ({ getSnapshot: () => snapshot });
const signIn = browserSignInMachine.provide({ actions: { tellSession: () => undefined } });
const [keyed] = initialTransition(signIn);
const after = (snapshot: AnyMachineSnapshot, event: any): AnyMachineSnapshot =>
  transition(signIn as any, snapshot as never, event)[0] as AnyMachineSnapshot;

/** The chart with what it asks of the charts of the steps and of the sign-in, which it goes by. */
export const filled = newAgentMachine.provide({
  actions: {
    beginWizard: assign(() => ({
      wizard: still(initialTransition(wizardMachine, { offer })[0]),
      signIn: still(keyed),
      offer,
      ...{ repeated: '', refusal: null, problem: null, made: null },
    })),
    ask: assign(({ context }, event: any) => ({
      wizard: still(transition(wizardMachine, context.wizard?.getSnapshot() as never, event)[0]),
    })),
    leaveSignIn: assign(() => ({ signIn: still(keyed) })),
    stopSignIn: () => undefined,
  } as any,
});
// What happens to the sign-in alone is heard by it alone.
const goOn = filled.transition.bind(filled);
filled.transition = (snapshot: any, event: any, scope) => {
  if (event.type !== 'sign-in.moves') return goOn(snapshot, event, scope);
  const moved = event.events.reduce(after, snapshot.context.signIn.getSnapshot());
  return { ...snapshot, context: { ...snapshot.context, signIn: still(moved) } };
};

export const stepsOf = ({ context }: AnyMachineSnapshot): AnyMachineSnapshot | undefined =>
  context.wizard?.getSnapshot();
export const signInOf = ({ context }: AnyMachineSnapshot): AnyMachineSnapshot =>
  context.signIn?.getSnapshot();
export const answersOf = (snapshot: AnyMachineSnapshot): AgentAnswers =>
  stepsOf(snapshot)?.context.answers;
