import type { ActorRefFrom } from 'xstate';
import type { AgentAnswers } from '../../../../machines/wizard/agent-answers.ts';
import type { WizardOffer } from '../../../../machines/wizard/offers.ts';
import type { AnswerEdit } from '../../../../machines/wizard/wizard-machine.ts';
import type { Dashboard } from '../../start-dashboard.ts';
import type { browserSignInMachine } from './browser-sign-in-machine.ts';

/** How the agent gets its key. */
export type BrowserSignIn = ActorRefFrom<typeof browserSignInMachine>;

/** What each step is given. */
export interface Asked {
  dashboard: Dashboard;
  answers: AgentAnswers;
  offer: WizardOffer;
  edit: (edit: AnswerEdit) => void;
}

/** Adds a name to a list or takes it out, in the order of those that are offered. */
export function toggled(
  names: readonly string[],
  name: string,
  isChosen: boolean,
  order: readonly string[],
): string[] {
  const chosen = isChosen ? [...names, name] : names.filter((each) => each !== name);
  return [...new Set(chosen)].toSorted((one, other) => order.indexOf(one) - order.indexOf(other));
}
