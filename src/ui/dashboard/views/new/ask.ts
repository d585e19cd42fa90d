import type { ActorRefFrom } from 'xstate';
import type { AgentAnswers } from '../../../../machines/wizard/agent-answers.ts';
import type { Field } from '../../../../machines/wizard/field.ts';
import type { WizardOffer } from '../../../../machines/wizard/offers.ts';
import type { AnswerEdit } from '../../../../machines/wizard/wizard-machine.ts';
import type { Dashboard } from '../../start-dashboard.ts';
import type { browserSignInMachine } from './browser-sign-in-machine.ts';

/** The actor that obtains the agent's API key. */
export type BrowserSignIn = ActorRefFrom<typeof browserSignInMachine>;

/** One input of a step; without a `hint`, its example is the hint. */
export interface Input extends Partial<Omit<Field, 'kind'>> {
  name: string;
  label: string;
  kind?: Field['kind'] | 'number';
  hint?: string;
  /** Suggested values; any other may be typed. */
  choices?: readonly string[];
  /** True if blanks around the text are dropped. */
  trims?: true;
}

/** The props of all steps. */
export interface Asked {
  dashboard: Dashboard;
  answers: AgentAnswers;
  offer: WizardOffer;
  edit: (edit: AnswerEdit) => void;
  signIn: BrowserSignIn;
  /** The passphrase as typed again. */
  repeated: string;
  repeat: (text: string) => void;
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
