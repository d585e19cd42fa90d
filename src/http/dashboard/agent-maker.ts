import type { AgentAnswers } from '../../machines/wizard/agent-answers.ts';
import type { WizardOffer } from '../../machines/wizard/offers.ts';
import type { WizardPreviewJson } from '../wire/dashboard/wizard-json.ts';

/** The result of submitting valid answers. */
export type Making =
  | { ok: true; directory: string }
  /** `message` is one sentence. Nothing has been written. */
  | { ok: false; code: 'taken' | 'invalid' | 'unwritable'; message: string };

/** Creates agents in a workspace folder. */
export interface AgentMaker {
  offer(): Promise<WizardOffer>;
  /** Previews the agent. Writes nothing. */
  preview(answers: AgentAnswers): Promise<Omit<WizardPreviewJson, 'complaints'>>;
  make(answers: AgentAnswers): Promise<Making>;
}
