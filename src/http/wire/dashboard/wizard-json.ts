import type { AgentAnswers, ApprovalAnswer, Step } from '../../../machines/wizard/agent-answers.ts';
import type {
  AuthOffer,
  ChannelOffer,
  ProviderOffer,
  SkillOffer,
  ToolOffer,
} from '../../../machines/wizard/offers.ts';

/** Response of `GET /api/wizard/meta`: the options of all steps, from the constants that validate them. */
export interface WizardMetaJson {
  steps: readonly Step[];
  /** The default answers: the body of `POST /api/create` with every key. */
  answers: AgentAnswers;
  /** The default approval settings of a tool. */
  approval: ApprovalAnswer;
  /** `sign_in` is true if a browser sign-in can replace the API key. */
  providers: readonly (ProviderOffer & { sign_in: boolean })[];
  channels: readonly ChannelOffer[];
  tools: readonly ToolOffer[];
  search_services: readonly { name: string; label: string; variable: string }[];
  skills: readonly SkillOffer[];
  auth: readonly AuthOffer[];
  egress_modes: readonly string[];
}

/**
 * Response of `POST /api/wizard/preview`, which has the same body as `POST /api/create`. Contains no value of a secret.
 */
export interface WizardPreviewJson {
  agent_id: string;
  /** Path of the folder to be created. */
  directory: string;
  /** The problem of each asked step; valid steps are absent. */
  complaints: { [step in Step]?: string };
  /** File contents by file name. */
  files: Readonly<Record<string, string>>;
  /** The hosts that the answers name, each with its setting, such as `model`. */
  hosts: { host: string; origin: string }[];
  /** Names of the variables to be stored for the agent. */
  variables: string[];
  /** Names of the variables that the environment must provide. */
  missing: string[];
}

/** Response, with 201, of `POST /api/create`. */
export interface CreatedJson {
  agent_id: string;
  directory: string;
}

/**
 * Response of `POST /api/oauth/start` `{provider?}`: the URL for the browser and the state that identifies the sign-in.
 */
export interface SignInStartedJson {
  url: string;
  /** The value for `model.session` in the answers once the sign-in is complete. */
  state: string;
}

/** Response of `GET /api/oauth/status?state=`. */
export interface SignInStatusJson {
  status: 'pending' | 'done' | 'failed';
  /** One sentence; set if the sign-in failed. */
  error?: string;
}
