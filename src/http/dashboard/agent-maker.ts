import type { AgentAnswers } from '../../machines/wizard/agent-answers.ts';
import type { WizardOffer } from '../../machines/wizard/offers.ts';
import type { WizardPreviewJson } from '../wire/dashboard/wizard-json.ts';

/** What became of answers in which nothing is wrong. */
export type Making =
  | { ok: true; directory: string }
  /** `message` is a sentence; nothing was written. */
  | { ok: false; code: 'taken' | 'invalid' | 'unwritable'; message: string };

/** Makes agents in the folder of a workspace. */
export interface AgentMaker {
  offer(): Promise<WizardOffer>;
  /** Says what would be made; writes nothing. */
  preview(answers: AgentAnswers): Promise<Omit<WizardPreviewJson, 'complaints'>>;
  make(answers: AgentAnswers): Promise<Making>;
}
