import type { AgentAnswers, ApprovalAnswer, Step } from '../../../machines/wizard/agent-answers.ts';
import type {
  AuthOffer,
  ChannelOffer,
  ProviderOffer,
  SkillOffer,
  ToolOffer,
} from '../../../machines/wizard/offers.ts';

/** Answer of `GET /api/wizard/meta`: all that the steps offer, from the constants that they check by. */
export interface WizardMetaJson {
  steps: readonly Step[];
  /** What the steps begin with: the body of `POST /api/create`, with every key. */
  answers: AgentAnswers;
  /** What the approval of a tool begins with. */
  approval: ApprovalAnswer;
  /** `sign_in` is true where a browser may sign in instead of a key. */
  providers: readonly (ProviderOffer & { sign_in: boolean })[];
  channels: readonly ChannelOffer[];
  tools: readonly ToolOffer[];
  search_services: readonly { name: string; label: string; variable: string }[];
  skills: readonly SkillOffer[];
  auth: readonly AuthOffer[];
  egress_modes: readonly string[];
}

/** Answer of `POST /api/wizard/preview`, whose body is that of `POST /api/create`. No value of a secret is in it. */
export interface WizardPreviewJson {
  agent_id: string;
  /** Where it would be made. */
  directory: string;
  /** What is wrong with each step that is asked; a step that is right is not there. */
  complaints: { [step in Step]?: string };
  /** The texts of the files by their names. */
  files: Readonly<Record<string, string>>;
  /** The hosts that the answers lead to, each with the setting that it comes from, such as `model`. */
  hosts: { host: string; origin: string }[];
  /** Names of the variables that are kept for it. */
  variables: string[];
  /** Names of those that it needs, and that the environment has to have. */
  missing: string[];
}

/** Answer, with 201, of `POST /api/create`. */
export interface CreatedJson {
  agent_id: string;
  directory: string;
}

/** Answer of `POST /api/oauth/start` `{provider?}`: where the browser goes, and what the sign-in is known by. */
export interface SignInStartedJson {
  url: string;
  /** `model.session` of the answers, once the sign-in is done. */
  state: string;
}

/** Answer of `GET /api/oauth/status?state=`. */
export interface SignInStatusJson {
  status: 'pending' | 'done' | 'failed';
  /** One sentence, when it has failed. */
  error?: string;
}
