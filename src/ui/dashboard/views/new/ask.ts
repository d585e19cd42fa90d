import type { ActorRefFrom } from 'xstate';
import type { AgentAnswers } from '../../../../machines/wizard/agent-answers.ts';
import type { WizardOffer } from '../../../../machines/wizard/offers.ts';
import type { AnswerEdit } from '../../../../machines/wizard/wizard-machine.ts';
import type { Dashboard } from '../../start-dashboard.ts';
import type { browserSignInMachine } from './browser-sign-in-machine.ts';

/** The actor that obtains the agent's API key. */
export type BrowserSignIn = ActorRefFrom<typeof browserSignInMachine>;

/** The props common to all steps. */
export interface Asked {
  dashboard: Dashboard;
  answers: AgentAnswers;
  offer: WizardOffer;
  edit: (edit: AnswerEdit) => void;
}

/** Adds a name to a list or removes it, keeping the order of the options. */
export function toggled(
  names: readonly string[],
  name: string,
  isChosen: boolean,
  order: readonly string[],
): string[] {
  const chosen = isChosen ? [...names, name] : names.filter((each) => each !== name);
  return [...new Set(chosen)].toSorted((one, other) => order.indexOf(one) - order.indexOf(other));
}
